// SPDX-License-Identifier: Apache-2.0
// TagLib in plain C: reads and writes tags and artwork of an open sound file. No C++ exception leaves it. Text is UTF-8 with a
// length, not terminated by 0. Any thread, one at a time for each object.
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

enum {
    EARSHOT_TAGS_WAV,
    EARSHOT_TAGS_AIFF,
    EARSHOT_TAGS_FLAC,
    EARSHOT_TAGS_VORBIS,
    EARSHOT_TAGS_OPUS,
    EARSHOT_TAGS_MPEG,
    EARSHOT_TAGS_MP4,
};

/// Errors that are not an errno.
enum {
    EARSHOT_TAGS_DAMAGED = -1,
    EARSHOT_TAGS_TOO_LARGE = -2,
    EARSHOT_TAGS_EXCEPTION = -3,
    EARSHOT_TAGS_INCONSISTENT = -4,  // atoms that do not fit into one another; only when writing
    EARSHOT_TAGS_FIXED = -5,         // sound would not be found after a change; only when writing
};

/// The maximum bytes of one picture, and of everything that is read at once.
#define EARSHOT_TAGS_PICTURE_LIMIT 33554432
#define EARSHOT_TAGS_BLOCK_LIMIT 67108864

typedef struct {
    const char *bytes;
    size_t count;
} earshot_text;

/// One value of a field. Further values of a field follow under the same name.
typedef struct {
    earshot_text name;
    earshot_text value;
} earshot_field;

typedef struct {
    earshot_text mime_type;
    earshot_text description;
    earshot_text data;
    int kind;  // of ID3v2: 0 other, 3 front cover …
} earshot_picture;

/// The sound's properties as the file declares them; 0 if it does not.
typedef struct {
    int milliseconds;
    int kilobits;  // a second, on average
    int sample_rate;
    int channels;
    int bits;    // of a sample
    int is_alac; // of MP4: Apple Lossless, otherwise AAC
} earshot_sound;

typedef struct earshot_tags earshot_tags;

/// Reads the tags of an open file. Returns NULL after an error, with an errno or one of the codes above in `error`.
earshot_tags *earshot_tags_read(int file, int kind, int *error);
void earshot_tags_free(earshot_tags *tags);

size_t earshot_tags_field_count(const earshot_tags *tags);
earshot_field earshot_tags_field(const earshot_tags *tags, size_t index);
size_t earshot_tags_picture_count(const earshot_tags *tags);
earshot_picture earshot_tags_picture(const earshot_tags *tags, size_t index);
earshot_sound earshot_tags_sound(const earshot_tags *tags);
/// Returns 1 if an ID3v2 tag has a chapter (ID3v2 Chapter Frame Addendum).
int earshot_tags_has_chapters(const earshot_tags *tags);

/// Replaces the tags of a file that is open for reading and writing. Returns 0 or an error, after which the file must not be
/// used.
int earshot_tags_write(
    int file, int kind, const earshot_field *fields, size_t field_count, const earshot_picture *pictures,
    size_t picture_count);

#ifdef __cplusplus
}
#endif
