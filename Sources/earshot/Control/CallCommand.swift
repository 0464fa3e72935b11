// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct CallCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Show and control a running call from another terminal.",
        discussion: """
            Controls the call of 'earshot host' or 'earshot join' that you run on this machine, by its socket in $XDG_RUNTIME_DIR. Names may be shortened as long as only one person has the beginning. Programs can use the socket, too: docs/call-events.md.
            """,
        subcommands: [
            ShowCall.self, WatchCall.self, MuteCall.self, UnmuteCall.self, SetCallVolume.self, SetCallDial.self,
            SetCallVoiceProcessing.self, RecordCall.self, StopRecordingCall.self, AllowRecordingInCall.self,
            AdmitGuest.self, DeclineGuest.self, SayInCall.self, LeaveCall.self,
        ],
        defaultSubcommand: ShowCall.self)

    static let examples = [
        CommandExample("Show the call", "earshot call"),
        CommandExample("Make Bob quieter, and mute yourself", "earshot call volume Bob -6dB && earshot call mute"),
        CommandExample("Print each event as JSON", "earshot call watch --json"),
    ]
}
