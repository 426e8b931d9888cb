/* A head and hands moved by script: Monado's remote driver takes their poses over TCP, in a network namespace
 * of the test's own (scripts/xr-test --remote). The packet is that of Monado 25; another size means another
 * version, and the test is skipped. */
#include "xr_play.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { SKIPPED = 77 };

typedef struct remote_pose {
    float rotation[4], position[3];
} remote_pose;

typedef struct remote_controller {
    remote_pose pose;
    float velocity[3], spin[3], curl[5], trigger, squeeze, squeeze_force, stick[2], pad_force, pad[2];
    uint8_t joints, active, system[2], a[2], b[2], trigger_button[2], stick_button[2], pad_touch, unused[3];
} remote_controller;

typedef struct remote_packet {
    uint64_t header;
    struct {
        float fov[4];
        remote_pose pose;
        uint32_t unused;
    } views[2];
    remote_pose head;
    uint8_t views_valid, unused[3];
    remote_controller hands[2];
} remote_packet;
_Static_assert(sizeof(remote_controller) == 120 && sizeof(remote_packet) == 376, "as on the wire");

static int wire = -1;
static remote_packet packet;

static bool receive(void *out, size_t size)
{
    for (size_t got = 0; got < size;) {
        const ssize_t count = recv(wire, (char *)out + got, size - got, 0);
        if (count <= 0) return false;
        got += (size_t)count;
    }
    return true;
}

static void send_packet(void)
{
    assert_int_equal(send(wire, &packet, sizeof packet, MSG_NOSIGNAL), sizeof packet);
    play_sleep_ms(10); /* a thread of the service takes it in */
}

static void connect_remote(void)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(4242), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    remote_packet hello[2];
    char more;
    wire = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(wire >= 0);
    assert_int_equal(setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)), 0);
    assert_int_equal(
        setsockopt(wire, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 2}, sizeof(struct timeval)), 0);
    assert_int_equal(connect(wire, (const struct sockaddr *)&address, sizeof address), 0);
    /* It says hello with two packets of the kind it understands. */
    if (!receive(hello, sizeof hello) || hello[0].header != hello[1].header ||
        (play_sleep_ms(50), recv(wire, &more, 1, MSG_DONTWAIT)) > 0) {
        fprintf(stderr, "\n*** SKIPPED: this Monado speaks another remote protocol\n");
        exit(SKIPPED);
    }
    packet = hello[0];
    packet.head = (remote_pose){{0, 0, 0, 1}, {0, 1.6f, 0}};
    for (int i = 0; i < 2; i++) {
        packet.hands[i] = (remote_controller){.active = 1};
        packet.hands[i].pose = (remote_pose){{0, 0, 0, 1}, {i ? 0.2f : -0.2f, 1.3f, -0.5f}};
    }
    send_packet();
}

static void set_yaw(float rotation[4], float degrees)
{
    const float half = degrees * 0.00872664626f;
    rotation[0] = rotation[2] = 0, rotation[1] = sinf(half), rotation[3] = cosf(half);
}

static float yaw_of(const float q[4])
{
    return atan2f(2 * (q[0] * q[2] + q[3] * q[1]), 1 - 2 * (q[0] * q[0] + q[1] * q[1])) * 57.2957795f;
}

/* ---- tests ---- */

static void head(void **state)
{
    (void)state;
    play p;
    connect_remote();
    play_open(&p);
    play_until_focused(&p);
    float worst_turn = 0, worst_move = 0, start[3];
    play_frame(&p);
    memcpy(start, p.frame.head_position, sizeof start);
    for (int i = 0; i < 40; i++) {
        const float yaw = 20 * sinf(6.2831853f * (float)i / 20), x = 0.3f * sinf((float)i / 5);
        set_yaw(packet.head.rotation, yaw);
        packet.head.position[0] = x;
        send_packet();
        play_frame(&p);
        assert_true(p.frame.head_valid);
        worst_turn = fmaxf(worst_turn, fabsf(yaw_of(p.frame.head_rotation) - yaw));
        worst_move = fmaxf(worst_move, fabsf(p.frame.head_position[0] - start[0] - x));
        /* Both eyes turn with the head. */
        assert_true(fabsf(yaw_of(p.frame.eyes[0].rotation) - yaw_of(p.frame.head_rotation)) < 0.01f);
        const float *l = p.frame.eyes[0].position, *r = p.frame.eyes[1].position;
        assert_true(fabsf((l[0] + r[0]) / 2 - p.frame.head_position[0]) < 1e-3f);
    }
    print_message("worst of 40 scripted poses: %.4f degrees, %.5f m\n", (double)worst_turn,
                  (double)worst_move);
    assert_true(worst_turn < 0.01f && worst_move < 1e-4f);
    play_exit(&p);
    play_close(&p);
}

static void recentre(void **state)
{
    (void)state;
    play p;
    connect_remote();
    play_open(&p);
    play_until_focused(&p);
    /* Several times over, from odd places: always under the head, turned with it, at the same height. */
    for (int i = 0; i < 6; i++) {
        set_yaw(packet.head.rotation, 170 - 67 * (float)i);
        packet.head.position[0] = 0.5f - 0.3f * (float)i, packet.head.position[2] = 0.2f * (float)i;
        send_packet();
        play_frame(&p);
        const float height = p.frame.head_position[1];
        assert_int_equal(sac_session_recentre(p.session, &p.error), SAC_OK);
        play_frame(&p);
        const float *at = p.frame.head_position;
        assert_true(fabsf(at[0]) < 1e-4f && fabsf(at[2]) < 1e-4f && fabsf(at[1] - height) < 1e-4f);
        assert_true(fabsf(yaw_of(p.frame.head_rotation)) < 0.01f);
    }
    /* A step forward is a step along -z of the new origin. */
    const float yaw = 170 - 67 * 5;
    packet.head.position[0] -= sinf(yaw * 0.0174532925f),
        packet.head.position[2] -= cosf(yaw * 0.0174532925f);
    send_packet();
    play_frame(&p);
    assert_true(fabsf(p.frame.head_position[0]) < 1e-3f && fabsf(p.frame.head_position[2] + 1) < 1e-3f);
    play_exit(&p);
    play_close(&p);
}

static void hands(void **state)
{
    (void)state;
    play p;
    connect_remote();
    play_open(&p);
    play_until_focused(&p);
    play_frame(&p);
    float before[2][3];
    for (int h = 0; h < 2; h++) {
        assert_true(p.frame.hands[h].active);
        memcpy(before[h], p.frame.hands[h].position, sizeof before[h]);
    }
    assert_true(before[1][0] - before[0][0] > 0.35f); /* right is right of left */
    for (int i = 1; i <= 10; i++) {
        const float t = (float)i / 10;
        packet.hands[0].trigger = t, packet.hands[0].squeeze = 1 - t;
        packet.hands[1].trigger = 1 - t, packet.hands[1].squeeze = t;
        packet.hands[0].pose.position[1] = 1.3f + 0.1f * t;
        packet.hands[1].pose.position[2] = -0.5f - 0.2f * t;
        packet.hands[1].b[0] = i == 5 || i == 6;
        send_packet();
        play_frame(&p);
        const sac_hand_input *l = &p.frame.hands[0], *r = &p.frame.hands[1];
        assert_true(l->active && r->active);
        assert_true(fabsf(l->select - t) < 1e-3f && fabsf(l->squeeze - (1 - t)) < 1e-3f);
        assert_true(fabsf(r->select - (1 - t)) < 1e-3f && fabsf(r->squeeze - t) < 1e-3f);
        assert_true(fabsf(l->position[1] - before[0][1] - 0.1f * t) < 1e-3f);
        assert_true(fabsf(r->position[2] - before[1][2] + 0.2f * t) < 1e-3f);
        assert_int_equal(r->menu, i == 5); /* pressed, once */
        assert_false(l->menu);
        sac_session_pulse(p.session, 0, t, 0.02f);
    }
    /* Joints, where the runtime tracks a hand; the tips of a fist are nearer to the palm than of a flat hand.
     */
    sac_session_info info;
    sac_session_info_get(p.session, &info);
    assert_true(info.hand_joints);
    float reach[2] = {0};
    for (int fist = 0; fist < 2; fist++) {
        packet.hands[1].joints = 1;
        for (int i = 0; i < 5; i++) packet.hands[1].curl[i] = (float)fist;
        send_packet();
        play_frame(&p);
        const sac_hand_input *r = &p.frame.hands[1];
        assert_true(r->joints_valid);
        for (int k = 0; k < 3; k++) reach[fist] += powf(r->joints[15][k] - r->joints[0][k], 2);
        assert_true(r->joints[15][3] > 0);
    }
    assert_true(reach[1] < reach[0] && sqrtf(reach[0]) < 0.3f);
    packet.hands[0].active = 0;
    send_packet();
    play_frame(&p);
    assert_false(p.frame.hands[0].active);
    assert_true(p.frame.hands[1].active);
    play_exit(&p);
    play_close(&p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(head), cmocka_unit_test(recentre),
                                       cmocka_unit_test(hands)};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
