// SPDX-License-Identifier: Apache-2.0
#pragma once

class TagStream;

/// The atoms of an MP4 file, as far as writing tags depends on them. TagLib reads atoms that do not fit into one another, and
/// then changes sizes and tables of other atoms than the file's.
class AtomLayout {
public:
    /// Reads the atoms. 0, EARSHOT_TAGS_INCONSISTENT or EARSHOT_TAGS_FIXED; TagLib can write tags only if it is 0.
    int read(TagStream &stream);

    /// False if bytes that are referred to by their place in the file would not be found after atoms move by `growth` bytes.
    bool allows_growth(long growth) const;

private:
    struct Atom;
    enum class Place { Top, Movie, Fragment };

    int read_atom(long at, long end, Atom &atom);
    int read_children(const Atom &parent, long at, Place place, int depth);
    int read_leaf(const Atom &atom, Place place);
    int read_chunk_offsets(const Atom &atom, bool is_64_bit);
    int read_fragment_header(const Atom &atom);
    int check_insertion() const;

    TagStream *stream_ = nullptr;
    long count_ = 0;
    long movies_ = 0;
    long fragments_ = 0;
    bool ends_early_ = false;  // TagLib sees no atom behind the zeros that end `udta`
    bool has_fixed_fragments_ = false;
    unsigned long last_chunk_ = 0;  // the greatest offset in an `stco`
    // The path to the tags that TagLib takes: at each level the first atom of the name.
    bool is_long_movie_ = false, is_long_user_data_ = false, is_open_movie_ = false;
    int user_data_ = 0, meta_ = 0, list_ = 0;  // how many were seen on the path
};
