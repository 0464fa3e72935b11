// SPDX-License-Identifier: Apache-2.0
#include "AtomLayout.hpp"

#include "CTagLib.h"
#include "TagStream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

// As in TagLib's mp4atom.cpp.
const char *const kContainers[] = {"moov", "udta", "mdia", "meta", "ilst", "stbl", "minf", "moof", "traf", "trak", "stsd"};
constexpr int kDepthLimit = 32;
constexpr long kCountLimit = 2000000;
constexpr size_t kPiece = 1 << 16;

uint64_t big_endian(const unsigned char *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

}  // namespace

struct AtomLayout::Atom {
    long start = 0, body = 0, end = 0;
    bool is_open = false;  // extends to the end of the file
    char name[5] = {};

    bool is(const char *other) const { return std::strcmp(name, other) == 0; }
    bool is_long() const { return body - start == 16; }
    bool is_container() const {
        return std::any_of(std::begin(kContainers), std::end(kContainers), [this](const char *c) { return is(c); });
    }
};

int AtomLayout::read(TagStream &stream) {
    stream_ = &stream;
    const long end = stream.length();
    for (long at = 0; at <= end - 8;) {
        Atom atom;
        if (read_atom(at, end, atom) != 0) return EARSHOT_TAGS_INCONSISTENT;
        if (atom.end == 0) break;  // bytes that are no atom; TagLib stops here too
        if (atom.is_container()) {
            const bool is_inner = !atom.is("moov") && !atom.is("moof") && !atom.is("meta") && !atom.is("udta");
            if (is_inner || atom.end > end) return EARSHOT_TAGS_INCONSISTENT;
            const bool is_movie = atom.is("moov");
            if (is_movie && ++movies_ > 1) return EARSHOT_TAGS_INCONSISTENT;
            if (is_movie) {
                is_open_movie_ = atom.is_open;
                is_long_movie_ = atom.is_long();
            }
            if (atom.is("moof")) fragments_++;
            const Place place = is_movie ? Place::Movie : atom.is("moof") ? Place::Fragment : Place::Top;
            const int code = read_children(atom, atom.body, place, 1);
            if (code != 0) return code;
        }
        at = atom.end;
    }
    return check_insertion();
}

// An `end` of 0 means that there is no atom.
int AtomLayout::read_atom(long at, long end, Atom &atom) {
    if (++count_ > kCountLimit) return EARSHOT_TAGS_INCONSISTENT;
    unsigned char head[16];
    if (stream_->read_at(reinterpret_cast<char *>(head), 8, at) < 8) return EARSHOT_TAGS_INCONSISTENT;
    atom.start = at;
    atom.body = at + 8;
    std::memcpy(atom.name, head + 4, 4);
    const uint64_t short_size = big_endian(head, 4);
    if (short_size == 0) {
        atom.is_open = true;
        atom.end = end;
        return 0;
    }
    if (short_size != 1) {
        atom.end = short_size < 8 ? 0 : at + long(short_size);
        return 0;
    }
    if (stream_->read_at(reinterpret_cast<char *>(head) + 8, 8, at + 8) < 8) return EARSHOT_TAGS_INCONSISTENT;
    atom.body = at + 16;
    const uint64_t size = big_endian(head + 8, 8);
    if (size < 16 || size > uint64_t(INT64_MAX - at)) return EARSHOT_TAGS_INCONSISTENT;
    atom.end = at + long(size);
    return 0;
}

// Children must fill their parent exactly.
int AtomLayout::read_children(const Atom &parent, long at, Place place, int depth) {
    if (depth > kDepthLimit) return EARSHOT_TAGS_INCONSISTENT;
    if (parent.is("stsd")) at += 8;
    if (parent.is("meta") && !stream_->has_meta_child(at)) at += 4;
    // TagLib uses the first `udta` of the movie, the first `meta` in it and the first `ilst` in that.
    const bool is_movie = place == Place::Movie && depth == 1;
    const bool is_user_data = place == Place::Movie && depth == 2 && parent.is("udta") && user_data_ == 1;
    const bool is_meta = place == Place::Movie && depth == 3 && parent.is("meta") && user_data_ == 1 && meta_ == 1;
    while (at < parent.end) {
        unsigned char zeros[4] = {1};
        // QuickTime ends user data with four zeros. TagLib reads them as the size of an atom up to the end of the file.
        if (place == Place::Movie && depth == 2 && parent.is("udta") && parent.end - at == 4 &&
            stream_->read_at(reinterpret_cast<char *>(zeros), 4, at) == 4 && big_endian(zeros, 4) == 0) {
            ends_early_ = true;
            return 0;
        }
        Atom atom;
        if (parent.end - at < 8 || read_atom(at, parent.end, atom) != 0) return EARSHOT_TAGS_INCONSISTENT;
        if (atom.is_open || atom.end == 0 || atom.end > parent.end) return EARSHOT_TAGS_INCONSISTENT;
        if (ends_early_ && place == Place::Movie) return EARSHOT_TAGS_INCONSISTENT;
        if (is_movie && atom.is("udta") && ++user_data_ == 1) is_long_user_data_ = atom.is_long();
        if (is_user_data && atom.is("meta")) meta_++;
        if (is_meta && atom.is("ilst")) list_++;
        const int code = atom.is_container() ? read_children(atom, atom.body, place, depth + 1) : read_leaf(atom, place);
        if (code != 0) return code;
        at = atom.end;
    }
    return at == parent.end ? 0 : EARSHOT_TAGS_INCONSISTENT;
}

int AtomLayout::read_leaf(const Atom &atom, Place place) {
    if (place == Place::Movie && atom.is("stco")) return read_chunk_offsets(atom, false);
    if (place == Place::Movie && atom.is("co64")) return read_chunk_offsets(atom, true);
    if (place == Place::Fragment && atom.is("tfhd")) return read_fragment_header(atom);
    return 0;
}

int AtomLayout::read_chunk_offsets(const Atom &atom, bool is_64_bit) {
    unsigned char head[8];
    if (atom.is_long()) return EARSHOT_TAGS_FIXED;
    if (atom.end - atom.body < 8 || stream_->read_at(reinterpret_cast<char *>(head), 8, atom.body) < 8)
        return EARSHOT_TAGS_INCONSISTENT;
    const long width = is_64_bit ? 8 : 4;
    const long count = long(big_endian(head + 4, 4));
    if (count > (atom.end - atom.body - 8) / width) return EARSHOT_TAGS_INCONSISTENT;
    if (is_64_bit) return 0;
    std::vector<unsigned char> piece(kPiece);
    for (long done = 0; done < count * width;) {
        const size_t wanted = std::min(kPiece, size_t(count * width - done));
        if (stream_->read_at(reinterpret_cast<char *>(piece.data()), wanted, atom.body + 8 + done) < wanted)
            return EARSHOT_TAGS_INCONSISTENT;
        for (size_t i = 0; i < wanted; i += 4) last_chunk_ = std::max(last_chunk_, (unsigned long)(big_endian(&piece[i], 4)));
        done += long(wanted);
    }
    return 0;
}

// TagLib moves the base of only the first fragment.
int AtomLayout::read_fragment_header(const Atom &atom) {
    unsigned char flags[4];
    if (atom.is_long()) return EARSHOT_TAGS_FIXED;
    if (atom.end - atom.body < 8 || stream_->read_at(reinterpret_cast<char *>(flags), 4, atom.body) < 4)
        return EARSHOT_TAGS_INCONSISTENT;
    if ((flags[3] & 1) == 0) return 0;
    if (atom.end - atom.body < 16) return EARSHOT_TAGS_INCONSISTENT;
    if (fragments_ > 1 || ends_early_) has_fixed_fragments_ = true;
    return 0;
}

// TagLib puts new tags 8 bytes after the start of `udta` or `moov`, and adds to their sizes.
int AtomLayout::check_insertion() const {
    if (is_open_movie_) return EARSHOT_TAGS_FIXED;
    if (list_ > 0) return 0;
    return (user_data_ > 0 ? is_long_user_data_ : is_long_movie_) ? EARSHOT_TAGS_FIXED : 0;
}

bool AtomLayout::allows_growth(long growth) const {
    if (growth == 0) return true;
    return !has_fixed_fragments_ && (growth < 0 || last_chunk_ <= UINT32_MAX - (unsigned long)growth);
}
