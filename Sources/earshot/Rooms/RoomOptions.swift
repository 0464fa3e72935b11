// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotNearby
import EarshotRooms
import Foundation

extension AdmissionPolicy: ExpressibleByArgument {}

/// The identity in a room: the options that `host`, `join` and others share.
struct RoomOptions: ParsableArguments {
    @Option(
        name: .lettered("name"),
        help: ArgumentHelp(
            "Your name in the room. [default: your account's]", valueName: "name"))
    var name: String?

    @Option(
        name: .lettered("pin"),
        help: ArgumentHelp(
            "The room's PIN, 4 to 32 characters. '-' prompts, or reads standard input.",
            valueName: "pin"))
    var pin: String?

    @Flag(
        help:
            "Use a temporary key for this run and store nothing."
    )
    var ephemeral = false

    func validate() throws {
        if let name { try Self.check { try PeerName(name) } }
        if let pin, pin != "-" { try Self.check { try PIN(pin) } }
    }

    static func check<T>(_ make: () throws -> T) throws {
        do { _ = try make() } catch { throw ValidationError(ErrorText.text(error)) }
    }

    var ownName: PeerName { name.flatMap { try? PeerName($0) } ?? DefaultName.standard }

    /// The store of the user's key and the known peers; in memory with `--ephemeral`. Warns if `XDG_DATA_HOME` is ignored.
    var store: NearbyStore {
        guard !ephemeral else { return .inMemory() }
        let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"] ?? ""
        if !data.isEmpty, !data.hasPrefix("/") {
            Terminal.warn(
                "Ignoring XDG_DATA_HOME='\(data)': not an absolute path. Your key is in ~/.local/share/earshot.")
        }
        return .standard
    }

    /// Returns the PIN of `--pin`; nil without this option. For `-`, asks for the PIN or reads it from standard input.
    func readPIN(_ keys: KeyboardInput?) throws -> PIN? {
        guard let pin else { return nil }
        if pin != "-" { return try PIN(pin) }
        if let keys { return try PINPrompt.read(keys, "PIN of the room") }
        guard let line = readLine() else {
            throw Failure(
                "--pin - found no PIN on standard input. Write it there as one line.", status: Failure.noInput)
        }
        do throws(TextError) {
            return try PIN(line)
        } catch {
            throw Failure(error, Failure.usage)
        }
    }
}

/// Asks for a PIN on the terminal, and shows a dot for each character.
enum PINPrompt {
    /// Reads a PIN. Escape and Ctrl-C cancel.
    static func read(_ keys: KeyboardInput, _ what: String) throws -> PIN {
        var text = ""
        defer { Terminal.live("") }
        while true {
            Terminal.live("\(what): " + String(repeating: "•", count: text.count))
            guard !Interrupt.isRequested else { throw ExitCodes.interrupted }
            switch keys.next(within: 0.1) {
            case .character(let character): if text.count < 2 * PIN.lengths.upperBound { text.append(character) }
            case .backspace, .delete: if !text.isEmpty { text.removeLast() }
            case .clear: text = ""
            case .escape: throw Failure("No PIN given.", status: Failure.refused)
            case .enter:
                do throws(TextError) {
                    return try PIN(text)
                } catch {
                    Terminal.warn(error)
                    text = ""
                }
            default: break
            }
        }
    }
}

/// Waits on the command's thread for an asynchronous operation.
func waiting<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
    let result = WaitResult<T>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do { result.value = .success(try await work()) } catch { result.value = .failure(error) }
        done.signal()
    }
    done.wait()
    guard let value = result.value else { preconditionFailure("the task has ended") }
    return try value.get()
}

/// Waits on the command's thread for an asynchronous operation that cannot fail.
func waiting<T: Sendable>(_ work: @escaping @Sendable () async -> T) -> T {
    let result = WaitResult<T>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        result.value = .success(await work())
        done.signal()
    }
    done.wait()
    guard case .success(let value)? = result.value else { preconditionFailure("the task has ended") }
    return value
}

/// Waits on the command's thread for an asynchronous operation, or until `isOver` returns true. Then the operation goes on.
func waiting(until isOver: () -> Bool, for work: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        await work()
        done.signal()
    }
    while !isOver(), done.wait(timeout: .now() + 0.05) == .timedOut {}
}

private final class WaitResult<T>: @unchecked Sendable {  // written before the semaphore is signalled, read after
    var value: Result<T, any Error>?
}
