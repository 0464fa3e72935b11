// SPDX-License-Identifier: Apache-2.0
// libavcodec and libavutil. Macros and the channel-layout change of FFmpeg 5.1 need one-line shims.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>

static inline int earshot_av_again(void) { return AVERROR(EAGAIN); }
static inline int earshot_av_eof(void) { return AVERROR_EOF; }
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
