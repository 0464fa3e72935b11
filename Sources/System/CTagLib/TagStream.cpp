// SPDX-License-Identifier: Apache-2.0
#include "TagStream.hpp"

#include "CTagLib.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>
#include <sys/stat.h>
#include <unistd.h>

using TagLib::ByteVector;

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr size_t kCompressedLimit = 1 << 16;

unsigned big_endian(const unsigned char *b) {
    return unsigned(b[0]) << 24 | unsigned(b[1]) << 16 | unsigned(b[2]) << 8 | b[3];
}

// Reads a size as TagLib does: seven bits per byte, or eight if a byte has its highest bit set.
unsigned tag_size(const unsigned char *b) {
    if ((b[0] | b[1] | b[2] | b[3]) & 0x80) return big_endian(b);
    return unsigned(b[0]) << 21 | unsigned(b[1]) << 14 | unsigned(b[2]) << 7 | b[3];
}

bool is_frame_id(const unsigned char *body, size_t count, size_t at) {
    if (at > count || count - at < 4) return false;
    for (int i = 0; i < 4; i++) {
        const unsigned char c = body[at + i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return false;
    }
    return true;
}

// The bytes of the compressed frames in the body of an ID3v2 tag.
size_t compressed_bytes(std::vector<unsigned char> body, const unsigned char *header) {
    const int version = header[3];
    if (version < 3 || version > 4) return 0;
    if (header[5] & 0x80 && version == 3) {  // an inserted 0 behind each FF
        size_t to = 0;
        for (size_t i = 0; i < body.size(); i++) {
            body[to++] = body[i];
            if (body[i] == 0xFF && i + 1 < body.size() && body[i + 1] == 0) i++;
        }
        body.resize(to);
    }
    size_t at = 0;
    if (header[5] & 0x40 && body.size() >= 4) at = tag_size(body.data());
    size_t sum = 0;
    while (at < body.size() && body.size() - at >= 10 && body[at] != 0) {
        size_t size = version == 3 ? big_endian(&body[at + 4]) : tag_size(&body[at + 4]);
        if (version == 4 && size > 127 && !is_frame_id(body.data(), body.size(), at + size + 10)) {
            const size_t other = big_endian(&body[at + 4]);
            if (is_frame_id(body.data(), body.size(), at + other + 10)) size = other;
        }
        if (body[at + 9] & (version == 3 ? 0x80 : 0x08)) sum += size;
        at += 10 + size;
    }
    return sum;
}

}  // namespace

TagStream::TagStream(int file) : file_(file) {}

void TagStream::fail(int code) {
    if (error_ == 0) error_ = code;
}

size_t TagStream::read_at(char *bytes, size_t count, long offset) {
    size_t done = 0;
    while (done < count) {
        const ssize_t got = pread(file_, bytes + done, count - done, offset + long(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(errno);
        if (got <= 0) break;
        done += size_t(got);
    }
    return done;
}

void TagStream::write_at(const char *bytes, size_t count, long offset) {
    size_t done = 0;
    while (done < count && error_ == 0) {
        const ssize_t put = pwrite(file_, bytes + done, count - done, offset + long(done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail(put < 0 ? errno : ENOSPC);
        done += size_t(put);
    }
}

long TagStream::length() {
    struct stat status;
    if (fstat(file_, &status) != 0) {
        fail(errno);
        return 0;
    }
    return long(status.st_size);
}

void TagStream::seek(long offset, Position origin) {
    const long base = origin == Beginning ? 0 : origin == Current ? position_ : length();
    long goal;
    position_ = __builtin_add_overflow(base, offset, &goal) || goal < 0 ? 0 : goal;
}

ByteVector TagStream::readBlock(unsigned long wanted) {
    const long size = length();
    const unsigned long left = position_ < size ? (unsigned long)(size - position_) : 0;
    const unsigned long count = wanted < left ? wanted : left;
    if (count > EARSHOT_TAGS_BLOCK_LIMIT) {
        fail(EARSHOT_TAGS_TOO_LARGE);
        return ByteVector();
    }
    if (count == 0 || (error_ != 0)) return ByteVector();
    ByteVector block((unsigned int)count, 0);
    const size_t got = read_at(block.data(), count, position_);
    block.resize((unsigned int)got);
    if (position_ == tag_body_ && got > kCompressedLimit) {
        const std::vector<unsigned char> body(block.data(), block.data() + got);
        if (compressed_bytes(body, tag_header_) > kCompressedLimit) {
            fail(EARSHOT_TAGS_TOO_LARGE);
            return ByteVector();
        }
    }
    tag_body_ = -1;
    if (got == 10 && std::memcmp(block.data(), "ID3", 3) == 0) {
        tag_body_ = position_ + 10;
        std::memcpy(tag_header_, block.data(), 10);
    }
    position_ += long(got);
    return block;
}

void TagStream::writeBlock(const ByteVector &data) {
    write_at(data.data(), data.size(), position_);
    position_ += long(data.size());
}

// Moves everything from `from` to the end of the file.
void TagStream::move(long from, long to) {
    const long end = length();
    if (from == to || from >= end) return;
    std::vector<char> piece(kPiece);
    long left = end - from;
    long done = 0;
    while (left > 0 && error_ == 0) {
        const long count = left < long(kPiece) ? left : long(kPiece);
        const long at = to > from ? left - count : done;
        const size_t got = read_at(piece.data(), size_t(count), from + at);
        if (got < size_t(count)) return fail(EIO);
        write_at(piece.data(), got, to + at);
        left -= count;
        done += count;
    }
}

void TagStream::insert(const ByteVector &data, TagOffset start, unsigned long replace) {
    const long end = length();
    const long from = long(start) + long(replace) < end ? long(start) + long(replace) : end;
    const long to = long(start) + long(data.size());
    move(from, to);
    if (to < from) truncate(end - (from - to));
    write_at(data.data(), data.size(), long(start));
    position_ = to;
}

void TagStream::removeBlock(TagOffset start, unsigned long count) {
    const long end = length();
    if (long(start) >= end) return;
    const long from = long(start) + long(count) < end ? long(start) + long(count) : end;
    move(from, long(start));
    truncate(end - (from - long(start)));
    position_ = long(start);
}

void TagStream::truncate(long length) {
    if (error_ == 0 && ftruncate(file_, length) != 0) fail(errno);
}

bool TagStream::has_sane_atoms() {
    const long end = length();
    long at = 0;
    long count = 0;
    while (at + 8 <= end) {
        bool is_last = false;
        if (!walk_atom(at, end, 0, count, is_last)) return false;
        if (is_last) break;
    }
    return true;
}

// Advances over one atom as TagLib does, even if a child is longer than its parent; sets `is_last` where TagLib gives up.
bool TagStream::walk_atom(long &at, long end, int depth, long &count, bool &is_last) {
    static const char *const containers[] = {"moov", "udta", "mdia", "meta", "ilst", "stbl",
                                             "minf", "moof", "traf", "trak", "stsd"};
    if (depth > 32 || ++count > 2000000) return false;
    unsigned char head[16];
    const long offset = at;
    is_last = true;
    if (read_at(reinterpret_cast<char *>(head), 8, at) < 8) return true;
    at += 8;
    long size = long(big_endian(head));
    if (size == 0) size = end - offset;
    if (size == 1) {
        if (read_at(reinterpret_cast<char *>(head) + 8, 8, at) < 8) return true;
        at += 8;
        size = long((unsigned long)(big_endian(head + 8)) << 32 | big_endian(head + 12));
    }
    if (size < 8) return true;
    is_last = false;
    long next;
    if (__builtin_add_overflow(offset, size, &next)) return false;
    for (const char *name : containers) {
        if (std::memcmp(head + 4, name, 4) != 0) continue;
        if (std::memcmp(name, "stsd", 4) == 0) at += 8;
        if (std::memcmp(name, "meta", 4) == 0 && !has_meta_child(at)) at += 4;
        while (at < next) {
            bool gives_up = false;
            if (!walk_atom(at, end, depth + 1, count, gives_up)) return false;
            if (gives_up) return at = end, true;
        }
        return true;
    }
    at = next;
    return true;
}

bool TagStream::has_meta_child(long at) {
    static const char *const children[] = {"hdlr", "ilst", "mhdr", "ctry", "lang"};
    char head[8] = {};
    read_at(head, 8, at);
    for (const char *name : children) {
        if (std::memcmp(head + 4, name, 4) == 0) return true;
    }
    return false;
}
