// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct CallCommand: ExampledCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Show and control a running call from another terminal.",
        discussion: """
            Controls the call of 'earshot host' or 'earshot join' that you run on this machine. Names may be shortened as long as only one person has the beginning. Programs can use the call's socket, too: docs/call-events.md.
            """,
        subcommands: [
            ShowCall.self, WatchCall.self, MuteCall.self, UnmuteCall.self, SetCallVolume.self,
            HearInCall.self, SilenceInCall.self, SetCallDial.self, SetCallCodec.self, SetCallDevice.self,
            SetCallVoiceProcessing.self, SetCallMonitor.self, SetPushToTalk.self, SetCallEffects.self,
            AccompanyCall.self, ControlDuet.self, RecordCall.self, StopRecordingCall.self, AllowRecordingInCall.self,
            AdmitGuest.self, DeclineGuest.self, SetCallAdmission.self, RemoveFromCall.self, RenameInCall.self,
            SayInCall.self, SendInCall.self, LeaveCall.self, EndCallRoom.self,
        ],
        defaultSubcommand: ShowCall.self)

    static let examples = [
        CommandExample("Show the call", "earshot call"),
        CommandExample("Make Bob quieter, and mute yourself", "earshot call volume Bob -6dB && earshot call mute"),
        CommandExample("Add reverb to your voice", "earshot call effects set reverb:large-hall"),
        CommandExample("Print each event as JSON", "earshot call watch --json"),
    ]
}
