/* Colours the strip, the legend and the lines agree on. Private to xr/. */
#ifndef SAC_XR_INSIGHT_INTERNAL_H
#define SAC_XR_INSIGHT_INTERNAL_H

#include "xr/insight.h"

/* 0xAABBGGRR. */
#define SAC_INSIGHT_ALONE 0xFFC3BEB8u   /* in no pair */
#define SAC_INSIGHT_ASLEEP 0xFF8A837Du  /* at rest */
#define SAC_INSIGHT_GAZE 0xFF1E5AE0u    /* vermilion */
#define SAC_INSIGHT_RING 0xFF6B4A2Fu    /* slate blue */
#define SAC_INSIGHT_HALO 0xFFF4F0ECu    /* behind them */
#define SAC_INSIGHT_IMPULSE 0xFF1F8CF2u /* amber */
#define SAC_INSIGHT_NEAR 0xFFA89F96u    /* a contact that does not press */

/* JNDs at the bright end of the scale. */
#define SAC_INSIGHT_JND_MOST 16.0f

#endif
