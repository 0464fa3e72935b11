// SPDX-License-Identifier: Apache-2.0
// libavformat. Types of libavcodec come from CLibAV, so that no type is declared twice.
#pragma once
#include "../CLibAV/shim.h"
#include <libavformat/avformat.h>

static inline int earshot_av_refused(void) { return AVERROR(EPERM); }
// Functions since FFmpeg 5.0; Ubuntu 22.04 has 4.4.
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(58, 78, 100)
static inline int earshot_av_index_count(const AVStream *s) { return avformat_index_get_entries_count(s); }
static inline const AVIndexEntry *earshot_av_index_entry(AVStream *s, int i) { return avformat_index_get_entry(s, i); }
#else
static inline int earshot_av_index_count(const AVStream *s) { return s->nb_index_entries; }
static inline const AVIndexEntry *earshot_av_index_entry(AVStream *s, int i) { return &s->index_entries[i]; }
#endif
