import Foundation
import Nearby
import Rooms

/// What members send beside sound, as it comes: messages are shown, files taken or declined.
///
/// Of any task; what it has to say goes to the terminal at once.
final class RoomArrivals: Sendable {
    /// Who a member is.
    private let name: @Sendable (MemberID) async -> String
    /// Where files go; nil where none is taken.
    private let folder: String?
    /// Gets a message that is text.
    private let show: @Sendable (_ name: String, _ text: String) -> Void

    init(
        into folder: String?, name: @escaping @Sendable (MemberID) async -> String,
        show: @escaping @Sendable (String, String) -> Void
    ) {
        self.folder = folder
        self.name = name
        self.show = show
    }

    /// Whether files can go there, before anybody sends one.
    static func check(_ folder: String?) throws(Failure) {
        guard let folder else { return }
        func failure(_ words: String) -> Failure {
            Failure("--receive \(folder): \(words)", status: Failure.cannotCreate)
        }
        var status = stat()
        guard stat(folder, &status) == 0 else {
            let isMissing = errno == ENOENT
            throw failure(isMissing ? "there is no such folder; create it first" : String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure("it is no folder; give one") }
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(String(cString: strerror(errno))) }
    }

    /// A message as it is shown: the name stands before each of its lines, so that none can pass for another's.
    static func message(_ text: String, of name: String) -> String {
        let lines = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        return lines.isEmpty ? "\(name): " : lines.map { "\(name): \($0)" }.joined(separator: "\n")
    }

    /// Until the session is closed.
    func take(from arrivals: Mailbox<Arrival>) async {
        await withDiscardingTaskGroup { group in
            while let arrival = try? await arrivals.next() {
                switch arrival {
                case .message(let bytes, from: let member):
                    let name = await name(member)
                    if let text = String(validating: bytes, as: UTF8.self) {
                        show(name, text)
                    } else {
                        Terminal.say("\(name) sent \(FileFormatting.size(bytes.count)) that are no text")
                    }
                case .stream(let stream, from: let member):
                    stream.cancel()
                    Terminal.say(
                        "\(await name(member)) opened a stream, '\(stream.name)', for which there is no use here")
                case .file(let file, from: let member):
                    group.addTask { await self.take(file, await self.name(member)) }
                }
            }
        }
    }

    private func take(_ file: IncomingFile, _ name: String) async {
        let what = "'\(file.name)' (\(FileFormatting.size(Int(file.size))))"
        guard let folder else {
            file.decline()
            return Terminal.say("\(name) wanted to send \(what); to take files add: --receive FOLDER")
        }
        do {
            try await file.accept(into: folder)
            Terminal.say("\(name) sends \(what)")
            let path = try await file.finished()
            Terminal.say("\(name) has sent \(path)")
        } catch {
            Terminal.warn("\(what) of \(name) did not arrive: \(error)")
        }
    }
}
