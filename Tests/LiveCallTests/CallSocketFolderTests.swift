// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotLiveCall

/// The folder of the sockets of a user's calls, and programs that are not a call of this version.
@Suite(.serialized, .realTime(leastStandstill: 1)) struct CallSocketFolderTests {
    private static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    private static func server(in folder: CallSocketFolder) throws -> CallSocketServer {
        let call = try LiveCall(LiveCall.Configuration(), room: TestRoom())
        return try CallSocketServer(call, program: "0.1.0", folder: folder)
    }

    @Test func `the folder is in the user's runtime folder, and there is none without that`() throws {
        let folder = try SocketFolder()
        #expect(CallSocketFolder(environment: ["XDG_RUNTIME_DIR": folder.path])?.path == "\(folder.path)/earshot")
        let usual = CallSocketFolder(environment: [:])?.path
        #expect(usual == nil || usual == "/run/user/\(geteuid())/earshot")
        for path in ["", "relative", "\(folder.path)/missing", "/dev/null"] {
            #expect(CallSocketFolder(environment: ["XDG_RUNTIME_DIR": path])?.path == usual, "\(path)")
        }
        // The root folder is another user's, unless this user is root.
        #expect(geteuid() == 0 || CallSocketFolder(environment: ["XDG_RUNTIME_DIR": "/"])?.path == usual)
    }

    @Test func `only this user may use the folder and the socket, whatever modes there were`() throws {
        let folder = try SocketFolder()
        try FileManager.default.createDirectory(
            atPath: folder.sockets.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        chmod(folder.sockets.path, 0o777)
        let server = try Self.server(in: folder.sockets)
        #expect(Self.mode(folder.sockets.path) == 0o700 && Self.mode(server.path) == 0o600)
        #expect(server.path == folder.sockets.path(of: getpid()))
        server.close()
        #expect(Self.mode(server.path) == nil && Self.mode(folder.sockets.path) == 0o700)
    }

    @Test func `a link or a file in place of the folder is refused`() throws {
        let folder = try SocketFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.sockets.path, withDestinationPath: "/tmp")
        #expect(throws: CallSocketError.foreignFolder(folder.sockets.path)) { try Self.server(in: folder.sockets) }
        try FileManager.default.removeItem(atPath: folder.sockets.path)
        try Data().write(to: URL(fileURLWithPath: folder.sockets.path))
        #expect(throws: CallSocketError.foreignFolder(folder.sockets.path)) { try Self.server(in: folder.sockets) }
        let long = CallSocketFolder(path: "\(folder.path)/\(String(repeating: "x", count: 100))")
        #expect(throws: CallSocketError.pathTooLong(long.path(of: getpid()) + ".new")) { try Self.server(in: long) }
    }

    @Test func `sockets at which no process listens are removed, whatever their number`() throws {
        let folder = try SocketFolder()
        try folder.sockets.make()
        // No process has such a great number here. In another container it may have one.
        let (foreign, stale) = (Int32(4_194_304), Int32(1))
        let listener = try UnixSocket.listen(at: folder.sockets.path(of: foreign))
        defer { UnixSocket.close(listener) }
        UnixSocket.close(try UnixSocket.listen(at: folder.sockets.path(of: stale)))
        for name in ["call-x.sock", "call-0.sock", "call-07.sock", "call-5.sock.new", "other"] {
            try Data().write(to: URL(fileURLWithPath: "\(folder.sockets.path)/\(name)"))
        }
        #expect(folder.sockets.pids == [stale, foreign])
        #expect(throws: CallSocketError.notRunning) { try CallSocketClient(path: folder.sockets.path(of: stale)) }
        let server = try Self.server(in: folder.sockets)
        #expect(folder.sockets.pids == [getpid(), foreign])
        server.close()
        #expect(folder.sockets.pids == [foreign])
    }

    @Test func `a socket that is left over from an earlier process with this number is replaced`() throws {
        let folder = try SocketFolder()
        try folder.sockets.make()
        UnixSocket.close(try UnixSocket.listen(at: folder.sockets.path(of: getpid())))
        let server = try Self.server(in: folder.sockets)
        #expect(try CallSocketClient(path: server.path).status().phase == "idle")
        server.close()
    }

    @Test(
        arguments: [
            (#"{"earshot":"9.0","protocol":2,"pid":"x"}"#, CallSocketError.otherProtocol(program: "9.0", version: 2)),
            ("hello", .notACall), ("[]", .notACall), (#"{"protocol":1}"#, .notACall),
            ("too long", .notACall),
        ] as [(String, CallSocketError)]) func `a program that is not a call of this version is reported`(
            line: String, error: CallSocketError
        ) throws
    {
        let folder = try SocketFolder()
        try folder.sockets.make()
        let path = folder.sockets.path(of: getpid())
        let isLong = line == "too long"
        let program = try FalseCall(
            path: path, line: isLong ? String(repeating: "x", count: CallSocket.lineByteLimit + 1) : line)
        #expect(throws: error) { try CallSocketClient(path: path) }
        _ = program
    }

    @Test func `a program that accepts nobody, or says nothing, is not waited for`() throws {
        let folder = try SocketFolder()
        try folder.sockets.make()
        let path = folder.sockets.path(of: getpid())
        let listener = try UnixSocket.listen(at: path)
        defer { UnixSocket.close(listener) }
        #expect(throws: CallSocketError.noAnswer) { try CallSocketClient(path: path, within: 0.05) }
        var waiting: [RawSocketClient] = []
        while let client = try? RawSocketClient(path: path), waiting.count < 100 { waiting.append(client) }
        #expect(waiting.count < 100)
        #expect(throws: CallSocketError.noAnswer) { try CallSocketClient(path: path, within: 0.05) }
    }
}
