// SPDX-License-Identifier: Apache-2.0
#pragma once
#if !__has_include(<tiostream.h>)
#error "TagLib is missing: apt-get install libtag1-dev"
#endif
#include <tiostream.h>

#if TAGLIB_MAJOR_VERSION >= 2
using TagOffset = TagLib::offset_t;
#else
using TagOffset = unsigned long;
#endif

/// An open file as TagLib's stream. It reads no more than a bounded block at once, keeps the first error of the system, and
/// refuses what would grow without bound: a compressed ID3v2 frame that could inflate a thousandfold, MP4 atoms in depths.
class TagStream : public TagLib::IOStream {
public:
    explicit TagStream(int file);

    /// 0, an errno, or a code of CTagLib.h.
    int error() const { return error_; }

    /// Whether MP4's atoms are so few and so shallow that TagLib's recursion over them is safe.
    bool has_sane_atoms();

    /// True if the children of a `meta` begin at `at`, with no version before them.
    bool has_meta_child(long at);

    /// Reads up to `count` bytes at `offset`. Returns how many.
    size_t read_at(char *bytes, size_t count, long offset);

    TagLib::FileName name() const override { return ""; }
    TagLib::ByteVector readBlock(unsigned long length) override;
    void writeBlock(const TagLib::ByteVector &data) override;
    void insert(const TagLib::ByteVector &data, TagOffset start, unsigned long replace) override;
    void removeBlock(TagOffset start, unsigned long length) override;
    bool readOnly() const override { return false; }
    bool isOpen() const override { return true; }
    void seek(long offset, Position origin) override;
    long tell() const override { return position_; }
    long length() override;
    void truncate(long length) override;

private:
    int file_;
    int error_ = 0;
    long position_ = 0;
    long tag_body_ = -1;  // where the body of an ID3v2 tag begins whose header was read last
    unsigned char tag_header_[10] = {};

    void fail(int code);
    void write_at(const char *bytes, size_t count, long offset);
    void move(long from, long to);
    bool walk_atom(long &at, long end, int depth, long &count, bool &is_last);
};
