import AudioFiles
import Glibc

/// A file beside an output, under a name of its own, which takes the output's place once it is whole. It is gone with this object,
/// unless it was; a kill may leave it, as `.earshot-` and six letters.
///
/// A link is to go on being one: what it names is replaced. A file that is replaced leaves its owner and mode to the new one.
package final class PartialFile {
    /// Where it is until then: in the output's folder, so that renaming is one step.
    let path: String
    private let output: String
    private let target: String
    private let replaced: Attributes?
    private var isThere = true

    private struct Attributes {
        var owner: uid_t
        var group: gid_t
        var mode: mode_t
    }

    /// Creates it, empty, with mode 0600.
    /// - Throws: of the output: a folder, not a plain file, not permitted, missing folder, disk full, system.
    init(for output: String) throws(AudioFileError) {
        self.output = output
        target = Self.destination(of: output)
        replaced = try Self.attributes(of: target, named: output)
        var template = Array((Self.folder(of: target) + ".earshot-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output, creating: true) }
        close(descriptor)
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit { if isThere { unlink(path) } }

    /// Gives it the output's name.
    /// - Throws: not permitted, system; it is gone with this object then.
    func finish() throws(AudioFileError) {
        try keepAttributes()
        guard rename(path, target) == 0 else { throw .from(errno: errno, path: output) }
        isThere = false
    }

    private func keepAttributes() throws(AudioFileError) {
        guard let replaced else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .from(errno: errno, path: output) }
        defer { close(descriptor) }
        // Only root can give a file away; otherwise it is the caller's, as a new one would be.
        _ = fchown(descriptor, replaced.owner, replaced.group)
        guard fchmod(descriptor, replaced.mode) == 0 else { throw .from(errno: errno, path: output) }
    }

    /// Of the plain file that is there; nil where none is.
    private static func attributes(of target: String, named output: String) throws(AudioFileError) -> Attributes? {
        var status = stat()
        guard stat(target, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw .from(errno: errno, path: output, creating: true)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory(path: output)
        default: throw .notRegular(path: output)
        }
        // Who may not write the file must not replace it either.
        guard access(target, W_OK) == 0 else { throw .from(errno: errno, path: output, creating: true) }
        return Attributes(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o777)
    }

    /// Where what is written to a path comes to be: links followed, also to what is not there yet, and the folder by the one name
    /// that has no links in it. A path whose folder is not there stays as it is.
    package static func destination(of path: String) -> String {
        var path = path
        for _ in 0..<WritableFile.linkLimit {
            guard let link = WritableFile.link(at: path) else { break }
            path = link
        }
        guard let resolved = realpath(folder(of: path), nil) else { return path }
        defer { free(resolved) }
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return "\(String(cString: resolved))/\(name)"
    }

    /// With the slash at its end.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }
}
