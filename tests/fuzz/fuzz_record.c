/* A recording. Checksums are made right before it is opened, so that hostile bytes reach the operations
 * behind them: frames come out or an error with its byte, and nothing else happens. */
#include "base/error.h"
#include "fuzz.h"
#include "runtime/operations_internal.h"
#include "runtime/record_file_internal.h"

/* What hostile bytes may make a world of: small, since each input makes one. */
static const sac_replay_limits most = {64, 1024, 1u << 16};

static void replay(const uint8_t *bytes, size_t size, uint32_t threads)
{
    sac_replay *replay;
    sac_error error;
    sac_replay_frame frame = {0};
    sac_result result = sac_replay_open_memory(bytes, size, threads, &most, &replay, &error);
    if (result != SAC_OK) {
        HOLDS(!replay && error.code == result && error.message[0] && error.byte >= 0);
        return;
    }
    uint64_t frames = 0, last = 0;
    while ((result = sac_replay_step(replay, &frame, &error)) == SAC_OK && !frame.end) {
        HOLDS(frame.frame == ++frames);
        last = frame.hash;
    }
    if (result != SAC_OK) HOLDS(error.code == result && error.message[0] && error.byte >= 0);
    double progress = sac_replay_progress(replay);
    HOLDS(progress >= 0 && progress <= 1);
    /* Whatever was done, the world is one that can go on. */
    sac_world *world = sac_replay_world(replay);
    HOLDS(world);
    if (result == SAC_OK && frames) HOLDS(sac_world_hash(world) == last || frame.end);
    for (uint32_t i = 0; i < world->slot_count; i++) {
        if (!(world->flags[i] & SAC_BODY_USED)) continue;
        HOLDS(sac_vec3_is_finite(world->hot[i].centre) && sac_vec3_is_finite(world->hot[i].v));
    }
    sac_replay_close(&replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1u << 16) return 0;
    replay(data, size, 1);
    uint8_t *sealed = malloc(size ? size : 1);
    if (size) memcpy(sealed, data, size);
    sac_record_seal(sealed, size, sac_operations_checksum());
    replay(sealed, size, 1);
    free(sealed);
    return 0;
}
