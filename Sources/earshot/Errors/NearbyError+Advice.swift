// SPDX-License-Identifier: Apache-2.0

import EarshotNearby
import EarshotRooms
import Foundation

extension NearbyError: AdvisedError {
    var advice: String? {
        switch self {
        case .portInUse(let port):
            "Another 'earshot host' may be using it. Choose another with --port, or see what uses it: ss -ltnp 'sport = "
                + ":\(port)'"
        case .permissionDenied: "Use a port from 1024 upwards."
        case .addressNotAvailable: "List this machine's addresses: ip address"
        case .signalling: nil
        case .media(let error): error.advice
        case .store(let error): error.advice
        case .noThread: "See how many threads run: ps -eLf | wc -l"
        case .busy, .closed: nil
        }
    }
}

extension NearbyStoreError: AdvisedError {
    var advice: String? {
        switch self {
        case .file(_, EWOULDBLOCK): "See whether one is stopped: ps -C earshot -o pid,stat,args"
        case .file: "Set $XDG_DATA_HOME to a writable folder."
        case .laterVersion: "Update this Earshot, or move the file elsewhere to start with a new one."
        case .tooLarge: "Restore it from a copy, or move it elsewhere to start with a new one."
        case .identity: "Restore the file from a copy, or remove it to get a new identity."
        case .knownPeers(_, let error): error.advice
        }
    }
}

extension DiscoveryError: AdvisedError {
    var advice: String? {
        switch self {
        case .noDaemon(isInstalled: true):
            "Addresses and join codes work without it. Start it: sudo systemctl start avahi-daemon"
        case .noDaemon(isInstalled: false):
            "Addresses and join codes work without it. Install it: sudo apt-get install avahi-daemon"
        case .noBus:
            "Addresses and join codes work without it. Start it: sudo systemctl start dbus avahi-daemon"
        case .refused: "Addresses and join codes work without it. See: systemctl status avahi-daemon"
        case .invalidName: "Use one line of 1 to 63 bytes."
        }
    }
}

extension RoomAdvertiser.State {
    /// The state's description; with advice if the room cannot be announced.
    var text: String {
        if case .unavailable(let error) = self { ErrorText.text(error) } else { description }
    }
}

extension NegotiationFault: AdvisedError {
    var advice: String? {
        switch self {
        case .noTransport: "Install the same version of Earshot on both sides."
        case .nothingInCommon: "Use the same --codec, --rate and --channels on both sides."
        case .refused: "See what the other side printed."
        }
    }
}

extension TransferError: AdvisedError {
    var advice: String? {
        switch self {
        case .empty: "Write something."
        case .tooLong: "Send it as a file."
        case .noSuchFile: "Check its name."
        case .isDirectory(let path): "Pack it first: tar -czf \(Self.archive(of: path))"
        case .notRegular: "Copy its contents to a regular file and send that."
        case .unreadable(let path, _): "Check its permissions: ls -l \(path)"
        case .changed: "Send it again when no program is writing to it."
        case .noSuchFolder(let path): "Create it: mkdir -p \(path)"
        case .notWritable: "Choose another folder."
        case .noSpace: "Free some space, or choose another folder."
        case .disk: "Send it again: it resumes where it stopped."
        case .alreadyArriving: "Wait until it has arrived."
        case .gone: "Send it again when they are back."
        case .ended: "Join the room again first."
        case .unreachable: "Check the network, and send it again."
        case .cut: "Send it again."
        case .declined: "Ask them, and send it again."
        case .withdrawn: "Ask them to send it again."
        case .cancelled: "Send it again if you want."
        case .busy: "Send it again later."
        case .damaged: "Send it again; if it happens again, check the receiving machine's disk."
        case .remoteDiskFull: "Ask them to free some space, then send it again: it resumes where it stopped."
        case .remoteDisk: "Ask them what their Earshot says, and send it again."
        case .wrongKey, .closed, .refused: nil
        }
    }

    private static func archive(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? "folder"
        return "\(name).tar.gz \(path)"
    }
}
