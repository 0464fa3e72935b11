// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The accompaniment. Its thread reports after each order; a report about an earlier order is outdated.
extension LiveCallCore {
    mutating func setAccompaniment(_ files: [String]) throws(CommandRefusal) {
        let old = next.accompaniment
        guard let first = files.first else {
            guard old != nil else { throw .noAccompaniment }
            next.accompaniment = nil
            order(.load([], gain: 1, isForAll: false))
            return notify(.accompaniment(nil))
        }
        var new = AccompanimentStatus(path: first)
        (new.gain, new.isForAll) = (old?.gain ?? 1, old?.isForAll ?? false)
        next.accompaniment = new
        order(.load(files, gain: new.gain, isForAll: new.isForAll))
    }

    mutating func controlAccompaniment(_ control: AccompanimentControl) throws(CommandRefusal) {
        guard var status = next.accompaniment else { throw .noAccompaniment }
        let old = status
        let position = status.position(at: now)
        var control = control
        switch control {
        case .play: status.isPlaying = true
        case .pause:
            status.isPlaying = false
            status.setPosition(position, at: now, isMoving: false)
        case .seek(let seconds):
            let goal = max(0, min(status.duration ?? .infinity, seconds.isFinite ? seconds : 0))
            status.setPosition(goal, at: now, isMoving: false)
            control = .seek(to: goal)
        case .next, .previous: break
        case .setGain(let gain):
            status.gain = Self.clampedVolume(gain)
            control = .setGain(status.gain)
        case .setForAll(let isForAll): status.isForAll = isForAll
        }
        next.accompaniment = status
        order(.control(control))
        let isSought = if case .seek = control { true } else { false }
        if isSought || status.withoutClock != old.withoutClock { notify(.accompaniment(status)) }
    }

    private mutating func order(_ order: AccompanimentOrder) {
        accompanimentOrder += 1
        act(.media(.accompany(order, number: accompanimentOrder)))
    }

    mutating func receive(_ report: AccompanimentReport) {
        guard report.order == accompanimentOrder, var status = next.accompaniment else { return }
        guard let item = report.item else {
            next.accompaniment = nil
            return notify(.accompaniment(nil))
        }
        let old = status
        (status.item, status.itemCount) = (item.number, item.count)
        (status.path, status.title, status.duration) = (item.path, item.title, item.duration)
        status.underrunCount = report.underrunCount
        if report.hasEnded { status.isPlaying = false }
        status.setPosition(report.position, at: report.time, isMoving: report.isMoving)
        next.accompaniment = status
        if status.withoutClock != old.withoutClock { notify(.accompaniment(status)) }
    }
}
