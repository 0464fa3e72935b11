// SPDX-License-Identifier: Apache-2.0
#include "CTagLib.h"

#include "AtomLayout.hpp"
#include "TagStream.hpp"

#include <aifffile.h>
#include <attachedpictureframe.h>
#include <flacfile.h>
#include <id3v2framefactory.h>
#include <id3v2tag.h>
#include <mp4file.h>
#if TAGLIB_MAJOR_VERSION >= 2
#include <mp4itemfactory.h>
#endif
#include <mpegfile.h>
#include <opusfile.h>
#include <tpropertymap.h>
#include <vorbisfile.h>
#include <wavfile.h>
#include <xiphcomment.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace TagLib;

namespace {

struct Picture {
    std::string mime_type, description;
    ByteVector data;
    int kind;
};

earshot_text text(const std::string &s) { return {s.data(), s.size()}; }
std::string bytes(const String &s) { return s.to8Bit(true); }
String string(const earshot_text &t) { return String(std::string(t.bytes, t.count), String::UTF8); }
ByteVector vector(const earshot_text &t) { return ByteVector(t.bytes, (unsigned int)t.count); }

// A file that may have an ID3v2 tag; `measures` is true if its sound is examined.
template <class Container> Container open(TagStream &stream, bool measures) {
#if TAGLIB_MAJOR_VERSION >= 2
    return Container(&stream, measures);
#else
    return Container(&stream, ID3v2::FrameFactory::instance(), measures);
#endif
}

Picture from(FLAC::Picture *p) {
    return {bytes(p->mimeType()), bytes(p->description()), p->data(), int(p->type())};
}

FLAC::Picture *flac_picture(const earshot_picture &p) {
    auto *picture = new FLAC::Picture;
    picture->setMimeType(string(p.mime_type));
    picture->setDescription(string(p.description));
    picture->setData(vector(p.data));
    picture->setType(FLAC::Picture::Type(p.kind));
    return picture;
}

std::vector<Picture> pictures(ID3v2::Tag *tag) {
    std::vector<Picture> all;
    if (!tag) return all;
    const auto &frames = tag->frameList("APIC");
    for (auto it = frames.begin(); it != frames.end(); ++it) {
        if (auto *p = dynamic_cast<ID3v2::AttachedPictureFrame *>(*it))
            all.push_back({bytes(p->mimeType()), bytes(p->description()), p->picture(), int(p->type())});
    }
    return all;
}

template <class List> std::vector<Picture> pictures(const List &list) {
    std::vector<Picture> all;
    for (auto it = list.begin(); it != list.end(); ++it) all.push_back(from(*it));
    return all;
}

void put_pictures(ID3v2::Tag *tag, const earshot_picture *pictures, size_t count) {
    tag->removeFrames("APIC");
    for (size_t i = 0; i < count; i++) {
        auto *frame = new ID3v2::AttachedPictureFrame;
        frame->setTextEncoding(String::UTF8);
        frame->setMimeType(string(pictures[i].mime_type));
        frame->setDescription(string(pictures[i].description));
        frame->setType(ID3v2::AttachedPictureFrame::Type(pictures[i].kind));
        frame->setPicture(vector(pictures[i].data));
        tag->addFrame(frame);
    }
}

// MP4 keeps the image format of a picture, but neither its kind nor a description.
const struct { const char *mime_type; MP4::CoverArt::Format format; } kCovers[] = {
    {"image/jpeg", MP4::CoverArt::JPEG}, {"image/png", MP4::CoverArt::PNG},
    {"image/gif", MP4::CoverArt::GIF},   {"image/bmp", MP4::CoverArt::BMP},
};

std::vector<Picture> pictures(MP4::Tag *tag) {
    std::vector<Picture> all;
    if (!tag || !tag->contains("covr")) return all;
    const auto covers = tag->item("covr").toCoverArtList();
    for (auto it = covers.begin(); it != covers.end(); ++it) {
        Picture picture{"image/", "", it->data(), 3};
        for (const auto &cover : kCovers) {
            if (cover.format == it->format()) picture.mime_type = cover.mime_type;
        }
        all.push_back(picture);
    }
    return all;
}

void put_pictures(MP4::Tag *tag, const earshot_picture *pictures, size_t count) {
    MP4::CoverArtList covers;
    for (size_t i = 0; i < count; i++) {
        auto format = MP4::CoverArt::Unknown;
        const std::string mime(pictures[i].mime_type.bytes, pictures[i].mime_type.count);
        for (const auto &cover : kCovers) {
            if (mime == cover.mime_type) format = cover.format;
        }
        covers.append(MP4::CoverArt(format, vector(pictures[i].data)));
    }
    if (covers.isEmpty()) tag->removeItem("covr");
    else tag->setItem("covr", MP4::Item(covers));
}

// Fields without an atom of iTunes.
const char kFree[] = "----:com.apple.iTunes:";

struct FreeItem {
    String item, name;
    StringList values;

    // iTunes's comments on gaps and loudness belong to this sound: they are not text and must not be copied or replaced.
    bool is_text() const { return name != "iTunSMPB" && name != "iTunNORM" && !values.isEmpty(); }
};

// TagLib 1 reports an item without a property as unsupported, TagLib 2 as a property named in capitals.
std::vector<FreeItem> free_items(MP4::Tag *tag) {
    std::vector<FreeItem> all;
    const auto add = [&](const String &item) {
        if (item.startsWith(kFree)) all.push_back({item, item.substr(sizeof kFree - 1), tag->item(item).toStringList()});
    };
#if TAGLIB_MAJOR_VERSION >= 2
    for (const auto &item : tag->itemMap()) {
        const String key = MP4::ItemFactory::instance()->propertyKeyForName(item.first.data(String::UTF8));
        if (kFree + key == item.first) add(item.first);
    }
#else
    const StringList others = tag->properties().unsupportedData();
    for (const auto &item : others) add(item);
#endif
    return all;
}

// Removes the free items from the tag in memory.
std::vector<FreeItem> take_free_items(MP4::Tag *tag) {
    if (!tag) return {};
    const auto all = free_items(tag);
    for (const auto &free : all) tag->removeItem(free.item);
    return all;
}

void put_properties(MP4::Tag *tag, const PropertyMap &map) {
    for (const auto &free : free_items(tag)) {
        if (free.is_text()) tag->removeItem(free.item);
    }
    const PropertyMap others = tag->setProperties(map);
    for (auto it = others.begin(); it != others.end(); ++it) tag->setItem(kFree + it->first, MP4::Item(it->second));
}

}  // namespace

struct earshot_tags {
    std::vector<std::pair<std::string, std::string>> fields;
    std::vector<Picture> pictures;
    earshot_sound sound;
    bool has_chapters = false;

    void note_chapters(const ID3v2::Tag *tag) { has_chapters = tag && !tag->frameList("CHAP").isEmpty(); }

    int take(File &file, std::vector<Picture> all) {
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        const PropertyMap map = file.properties();
        for (auto it = map.begin(); it != map.end(); ++it) {
            for (auto value = it->second.begin(); value != it->second.end(); ++value)
                fields.emplace_back(bytes(it->first), bytes(*value));
        }
        for (const auto &picture : all) {
            if (picture.data.size() > EARSHOT_TAGS_PICTURE_LIMIT) return EARSHOT_TAGS_TOO_LARGE;
        }
        pictures = std::move(all);
        if (const auto *p = file.audioProperties())
            sound = {p->lengthInMilliseconds(), p->bitrate(), p->sampleRate(), p->channels(), 0, 0};
        return 0;
    }

    int read(TagStream &stream, int kind) {
        switch (kind) {
        case EARSHOT_TAGS_WAV: {
            RIFF::WAV::File file(&stream);
            note_chapters(file.ID3v2Tag());
            return take(file, ::pictures(file.ID3v2Tag()));
        }
        case EARSHOT_TAGS_AIFF: {
            RIFF::AIFF::File file(&stream);
            note_chapters(file.tag());
            return take(file, ::pictures(file.tag()));
        }
        case EARSHOT_TAGS_FLAC: {
            auto file = open<FLAC::File>(stream, true);
            const int code = take(file, ::pictures(file.pictureList()));
            if (code == 0 && file.audioProperties()) sound.bits = file.audioProperties()->bitsPerSample();
            return code;
        }
        case EARSHOT_TAGS_VORBIS: {
            Ogg::Vorbis::File file(&stream);
            if (!file.isValid() || !file.tag()) return EARSHOT_TAGS_DAMAGED;
            return take(file, ::pictures(file.tag()->pictureList()));
        }
        case EARSHOT_TAGS_OPUS: {
            Ogg::Opus::File file(&stream);
            if (!file.isValid() || !file.tag()) return EARSHOT_TAGS_DAMAGED;
            return take(file, ::pictures(file.tag()->pictureList()));
        }
        case EARSHOT_TAGS_MPEG: {
            auto file = open<MPEG::File>(stream, true);
            note_chapters(file.ID3v2Tag(false));
            return take(file, ::pictures(file.ID3v2Tag(false)));
        }
        case EARSHOT_TAGS_MP4: {
            if (!stream.has_sane_atoms()) return EARSHOT_TAGS_DAMAGED;
            MP4::File file(&stream);
            const auto free_items = take_free_items(file.tag());
            const int code = take(file, ::pictures(file.tag()));
            for (const auto &free : free_items) {
                if (!free.is_text()) continue;
                for (const auto &value : free.values) fields.emplace_back(bytes(free.name), bytes(value));
            }
            if (code == 0 && file.audioProperties()) {
                sound.bits = file.audioProperties()->bitsPerSample();
                sound.is_alac = file.audioProperties()->codec() == MP4::Properties::ALAC;
            }
            return code;
        }
        default:
            return EARSHOT_TAGS_DAMAGED;
        }
    }
};

namespace {

template <class Container> int write_xiph(
    Container &file, Ogg::XiphComment *tag, const PropertyMap &map, const earshot_picture *pictures, size_t count
) {
    if (!file.isValid() || !tag) return EARSHOT_TAGS_DAMAGED;
    tag->removeAllPictures();
    tag->setProperties(map);
    for (size_t i = 0; i < count; i++) tag->addPicture(flac_picture(pictures[i]));
    return file.save() ? 0 : EARSHOT_TAGS_DAMAGED;
}

int write(TagStream &stream, int kind, const PropertyMap &map, const earshot_picture *pictures, size_t count) {
    switch (kind) {
    case EARSHOT_TAGS_WAV: {
        RIFF::WAV::File file(&stream, false);
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        file.setProperties(map);
        put_pictures(file.ID3v2Tag(), pictures, count);
        return file.save() ? 0 : EARSHOT_TAGS_DAMAGED;
    }
    case EARSHOT_TAGS_AIFF: {
        RIFF::AIFF::File file(&stream, false);
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        file.tag()->setProperties(map);
        put_pictures(file.tag(), pictures, count);
        return file.save() ? 0 : EARSHOT_TAGS_DAMAGED;
    }
    case EARSHOT_TAGS_FLAC: {
        auto file = open<FLAC::File>(stream, false);
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        file.xiphComment(true)->setProperties(map);
        file.removePictures();
        for (size_t i = 0; i < count; i++) file.addPicture(flac_picture(pictures[i]));
        return file.save() ? 0 : EARSHOT_TAGS_DAMAGED;
    }
    case EARSHOT_TAGS_VORBIS: {
        Ogg::Vorbis::File file(&stream, false);
        return write_xiph(file, file.tag(), map, pictures, count);
    }
    case EARSHOT_TAGS_OPUS: {
        Ogg::Opus::File file(&stream, false);
        return write_xiph(file, file.tag(), map, pictures, count);
    }
    case EARSHOT_TAGS_MPEG: {
        auto file = open<MPEG::File>(stream, false);
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        ID3v2::Tag *tag = file.ID3v2Tag(true);
        tag->setProperties(map);
        put_pictures(tag, pictures, count);
        // Older tags would keep the old values.
        return file.save(MPEG::File::ID3v2, File::StripOthers, ID3v2::v4, File::DoNotDuplicate) ? 0 : EARSHOT_TAGS_DAMAGED;
    }
    case EARSHOT_TAGS_MP4: {
        AtomLayout layout;
        if (const int code = layout.read(stream)) return code;
        const long length = stream.length();
        MP4::File file(&stream, false);
        if (!file.isValid()) return EARSHOT_TAGS_DAMAGED;
        put_properties(file.tag(), map);
        put_pictures(file.tag(), pictures, count);
        if (!file.save()) return EARSHOT_TAGS_DAMAGED;
        return layout.allows_growth(stream.length() - length) ? 0 : EARSHOT_TAGS_FIXED;
    }
    default:
        return EARSHOT_TAGS_DAMAGED;
    }
}

}  // namespace

extern "C" earshot_tags *earshot_tags_read(int file, int kind, int *error) {
    *error = EARSHOT_TAGS_EXCEPTION;
    try {
        auto tags = std::make_unique<earshot_tags>();
        TagStream stream(file);
        const int code = tags->read(stream, kind);
        *error = stream.error() != 0 ? stream.error() : code;
        return *error == 0 ? tags.release() : nullptr;
    } catch (...) {
        return nullptr;
    }
}

extern "C" void earshot_tags_free(earshot_tags *tags) { delete tags; }

extern "C" size_t earshot_tags_field_count(const earshot_tags *tags) { return tags->fields.size(); }

extern "C" earshot_field earshot_tags_field(const earshot_tags *tags, size_t index) {
    return {text(tags->fields[index].first), text(tags->fields[index].second)};
}

extern "C" size_t earshot_tags_picture_count(const earshot_tags *tags) { return tags->pictures.size(); }

extern "C" earshot_picture earshot_tags_picture(const earshot_tags *tags, size_t index) {
    const Picture &p = tags->pictures[index];
    return {text(p.mime_type), text(p.description), {p.data.data(), p.data.size()}, p.kind};
}

extern "C" int earshot_tags_has_chapters(const earshot_tags *tags) { return tags->has_chapters; }

extern "C" earshot_sound earshot_tags_sound(const earshot_tags *tags) { return tags->sound; }

extern "C" int earshot_tags_write(
    int file, int kind, const earshot_field *fields, size_t field_count, const earshot_picture *pictures,
    size_t picture_count) {
    try {
        TagStream stream(file);
        PropertyMap map;
        for (size_t i = 0; i < field_count; i++) map.insert(string(fields[i].name), StringList(string(fields[i].value)));
        const int code = write(stream, kind, map, pictures, picture_count);
        return stream.error() != 0 ? stream.error() : code;
    } catch (...) {
        return EARSHOT_TAGS_EXCEPTION;
    }
}
