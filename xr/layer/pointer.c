/* Where the mouse is on an X display. libxcb is opened at run time, so that the layer needs no X to be built
 * or used; unlike Xlib it does not end the program when the display goes away. Of its interface, which has
 * not changed in twenty years, only what is needed is declared here. */
#include "xr/layer/layer_internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct connection connection;

typedef struct screen {
    uint32_t root, colormap, white, black, masks;
    uint16_t width, height; /* pixels */
} screen;

typedef struct screens {
    screen *data;
    int left, index;
} screens;

typedef struct cookie {
    unsigned int sequence;
} cookie;

typedef struct answer {
    uint8_t type, same_screen;
    uint16_t sequence;
    uint32_t length, root, child;
    int16_t root_x, root_y, x, y;
    uint16_t mask;
} answer;

struct sac_pointer {
    void *library;
    connection *display;
    const screen *screen;
    void (*disconnect)(connection *);
    int (*has_error)(connection *);
    cookie (*query)(connection *, uint32_t window);
    answer *(*reply)(connection *, cookie, void **error);
};

/* Object and function pointers are of one size wherever there is a dlsym. */
static bool find(void *library, const char *name, void *out_function)
{
    void *found = dlsym(library, name);
    memcpy(out_function, &found, sizeof found);
    return found != NULL;
}

void sac_pointer_close(sac_pointer **pointer)
{
    sac_pointer *p = *pointer;
    if (!p) return;
    if (p->display) p->disconnect(p->display);
    if (p->library) dlclose(p->library);
    sac_free(p, 1, sizeof *p);
    *pointer = NULL;
}

sac_result sac_pointer_open(sac_pointer **out_pointer, sac_error *error)
{
    connection *(*connect)(const char *, int *) = NULL;
    const void *(*setup)(connection *) = NULL;
    screens (*roots)(const void *) = NULL;
    sac_pointer *p = *out_pointer = sac_alloc_zero(1, sizeof *p);
    if (!p) return sac_error_set(error, SAC_ERROR_MEMORY, NULL, "no memory for the mouse");
    sac_result result = SAC_OK;
    p->library = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!p->library || !find(p->library, "xcb_connect", &connect) ||
        !find(p->library, "xcb_get_setup", &setup) || !find(p->library, "xcb_setup_roots_iterator", &roots) ||
        !find(p->library, "xcb_disconnect", &p->disconnect) ||
        !find(p->library, "xcb_connection_has_error", &p->has_error) ||
        !find(p->library, "xcb_query_pointer", &p->query) ||
        !find(p->library, "xcb_query_pointer_reply", &p->reply)) {
        result =
            sac_error_set(error, SAC_ERROR_UNSUPPORTED,
                          "install libxcb1, or drive the gaze through a pipe with SACCADE_GAZE=live:PATH",
                          "the mouse needs libxcb.so.1, which is not here");
    } else {
        p->display = connect(NULL, NULL);
        if (p->display && !p->has_error(p->display)) p->screen = roots(setup(p->display)).data;
        if (!p->screen)
            result =
                sac_error_set(error, SAC_ERROR_IO,
                              "set DISPLAY, or drive the gaze through a pipe with SACCADE_GAZE=live:PATH",
                              "the mouse needs an X display, and there is none that answers");
    }
    if (result != SAC_OK) sac_pointer_close(out_pointer);
    return result;
}

bool sac_pointer_read(sac_pointer *p, float *out_x, float *out_y, bool *out_pressed)
{
    const uint16_t right_button = 1u << 10;
    if (p->has_error(p->display)) return false;
    answer *found = p->reply(p->display, p->query(p->display, p->screen->root), NULL);
    if (!found) return false;
    float half = 0.5f * (float)p->screen->width;
    *out_x = ((float)found->root_x + 0.5f - half) / half;
    *out_y = (0.5f * (float)p->screen->height - (float)found->root_y - 0.5f) / half;
    *out_pressed = (found->mask & right_button) != 0;
    free(found); /* by malloc of the library */
    return true;
}
