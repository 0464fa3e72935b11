// SPDX-License-Identifier: Apache-2.0
// libavcodec and libavutil. Macros and the channel-layout change of FFmpeg 5.1 need one-line shims.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>

static inline int earshot_av_again(void) { return AVERROR(EAGAIN); }
static inline int64_t earshot_av_no_time(void) { return AV_NOPTS_VALUE; }
static inline int earshot_av_eof(void) { return AVERROR_EOF; }
// A packet's side data that says how many frames to remove from its beginning and its end.
static inline void earshot_av_trim(const AVPacket *p, uint32_t *start, uint32_t *end) {
    *start = *end = 0;
    for (int i = 0; i < p->side_data_elems; i++) {
        const uint8_t *d = p->side_data[i].data;
        if (p->side_data[i].type != AV_PKT_DATA_SKIP_SAMPLES || p->side_data[i].size < 8) continue;
        *start = d[0] | d[1] << 8 | d[2] << 16 | (uint32_t)d[3] << 24;
        *end = d[4] | d[5] << 8 | d[6] << 16 | (uint32_t)d[7] << 24;
    }
}
static inline void earshot_av_quiet(void) { av_log_set_level(AV_LOG_QUIET); }
// FFmpeg 5.1 replaced channel counts by layouts; Ubuntu 22.04 has 4.4.
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 24, 100)
static inline void earshot_av_set_channels(AVCodecContext *c, int n) { av_channel_layout_default(&c->ch_layout, n); }
static inline int earshot_av_frame_channels(const AVFrame *f) { return f->ch_layout.nb_channels; }
static inline int earshot_av_frame_is_6_1_back(const AVFrame *f) { return f->ch_layout.order == AV_CHANNEL_ORDER_NATIVE && f->ch_layout.u.mask == AV_CH_LAYOUT_6POINT1_BACK; }
static inline void earshot_av_frame_set_channels(AVFrame *f, int n) { av_channel_layout_default(&f->ch_layout, n); }
#else
static inline void earshot_av_set_channels(AVCodecContext *c, int n) { c->channels = n; c->channel_layout = av_get_default_channel_layout(n); }
static inline int earshot_av_frame_channels(const AVFrame *f) { return f->channels; }
static inline int earshot_av_frame_is_6_1_back(const AVFrame *f) { return f->channel_layout == AV_CH_LAYOUT_6POINT1_BACK; }
static inline void earshot_av_frame_set_channels(AVFrame *f, int n) { f->channels = n; f->channel_layout = av_get_default_channel_layout(n); }
#endif
