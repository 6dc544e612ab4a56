internal import BusChecker
internal import EventBus
internal import Foundation
internal import Glibc
internal import TestSupport

/// Damage to the journal of a broker, while processes publish, read and consume.
package enum BrokerDamage: Sendable {
    /// The journal loses its end between two runs of its broker. Afterwards bits of its rows flip.
    case loss(JournalLoss)
    /// The disk is full, and has room again later.
    case fullDisk

    /// The damage that is possible here: a full disk needs one of its own.
    package static var possible: [Self] {
        JournalLoss.allCases.map(Self.loss) + (SmallDisk.isAllowed ? [.fullDisk] : [])
    }
}

/// A bus whose broker has its journal damaged.
struct BrokerDamageScene: Sendable {
    let arena: Arena
    /// The number of batches that are under way at any time.
    let batches: Int
    /// True if the publisher is stopped while the broker is killed.
    let stopsPublisher: Bool
    let seed: UInt64

    /// - Returns: The histories of the processes, and findings about the damage itself.
    func run(_ damage: BrokerDamage) async throws -> (history: History, findings: [String]) {
        switch damage {
        case .loss(let loss): try await lose(loss)
        case .fullDisk: try await fillDisk()
        }
    }

    // MARK: A full disk

    /// Large enough for all that the round publishes once there is room, and for a write-ahead log as large.
    private static let diskSize = "256m"

    private func fillDisk() async throws -> (History, [String]) {
        let disk = SmallDisk(at: "\(arena.directory)/disk", size: Self.diskSize)
        let broker = try await arena.startBroker(on: disk)
        let scene = try await FaultScene(in: arena, batches: batches)
        try disk.fill(of: try await broker.pid)
        try await arena.waitUntilLog(of: "broker", "says that the disk is full") {
            $0.contains("journal.unwritable")
        }
        try await arena.waitUntilLog(of: scene.publisher.name, "says that a batch is refused") {
            $0.contains(BusError.Code.journal.rawValue)
        }
        try disk.makeRoom(of: try await broker.pid)
        try await scene.waitUntilWorking("after there is room again")
        let history = try await scene.finish()
        try await arena.end([broker])
        return (history, [])
    }

    // MARK: A lost end

    private func lose(_ loss: JournalLoss) async throws -> (History, [String]) {
        // The tables are in the file; everything after them is in the log.
        let first = try await arena.startBroker("first")
        try await arena.withBus { _ = try await $0.inspect.end() }
        try await arena.end([first])
        let second = try await arena.startBroker("second")
        let scene = try await FaultScene(in: arena, batches: batches)
        try await arena.until("the reader has more than a page") { $0["reader"]?.delivered ?? 0 > 400 }
        let copy = try await kill(second, scene)
        try loss.befall(arena.journal, copy: copy)
        let left = JournalFiles(at: arena.journal)
        let invoked = arena.invoked(by: scene.publisher.name)
        try await scene.publisher.send(SIGCONT)
        let third = try await arena.startBroker("third")
        // The marks of the clients may not cover the messages of the last second. The record of the end does.
        if loss != .file {
            try await arena.waitUntilLog(of: "third", "tells of the loss") { $0.contains("has lost its last") }
        }
        try await scene.waitUntilNewEpoch()
        var history = try await scene.finish()
        try await arena.end([third])
        var findings = try await flipBits(history.journal)
        let kept = Set(try await read(left).compactMap(\.value))
        let lostEnd = scene.lostEnd(kept: kept, of: invoked, mayRepeatResults: false)
        if lostEnd.losable.isSubset(of: history.journal.compactMap(\.value)) { findings.append("nothing was lost") }
        // Without its log, the file may contain only the tables.
        if [.endOfLog, .byteOfLog, .olderCopy].contains(loss), kept.isEmpty { findings.append("nothing was left") }
        // What the damage has left stays, also what had not been acknowledged.
        history.acknowledged.formUnion(kept)
        history.lostEnd = lostEnd
        return (history, findings)
    }

    /// Kills the broker while its log contains many messages that the file does not contain. The publisher may be
    /// stopped.
    /// - Returns: An older copy of the journal.
    private func kill(_ broker: ChildProcess, _ scene: FaultScene) async throws -> JournalFiles {
        try await broker.send(SIGSTOP)
        let copy = JournalFiles(at: arena.journal)
        var frames = 0
        repeat {
            let count = await arena.counts(of: "publisher").acknowledged
            try await scene.publisher.send(SIGCONT)
            try await broker.send(SIGCONT)
            // The copy may have the batches that were under way when it was made.
            try await arena.until("more is published") { $0["publisher"]?.acknowledged ?? 0 > count + batches + 100 }
            if stopsPublisher {
                try await scene.publisher.send(SIGSTOP)
                // The broker answers this after it has answered the batches: their acknowledgements wait.
                try await arena.withBus { _ = try await $0.inspect.end() }
            }
            try await broker.send(SIGSTOP)
            frames = try WriteAheadLog(of: arena.journal).frames
        } while frames < 400
        try await broker.send(SIGKILL)
        try await arena.waitUntilEnd(of: broker)
        return copy
    }

    /// Flips bits in some rows of a journal that no broker serves.
    /// - Returns: The findings: each of these rows must be damaged, and no other.
    private func flipBits(_ entries: [JournalEntry]) async throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let url = URL(fileURLWithPath: arena.journal)
        var data = try Data(contentsOf: url)
        var flipped: Set<UInt64> = []
        for entry in entries.shuffled(using: &random).prefix(8) {
            guard let value = entry.value, let place = data.range(of: Data("\"id\":\"\(value)\"".utf8)) else {
                continue
            }
            data[place.lowerBound + 6] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            flipped.insert(entry.offset)
        }
        try data.write(to: url)
        let left = try await self.entries(readBy: "fourth")
        let missing = Set(entries.map(\.offset)).subtracting(left.map(\.offset))
        return missing == flipped ? [] : ["bits flipped at \(flipped.sorted()), and \(missing.sorted()) are missing"]
    }

    /// Reads the entries of a journal that was kept aside.
    private func read(_ journal: JournalFiles) async throws -> [JournalEntry] {
        try journal.write(to: arena.journal)
        return try await self.entries(readBy: "fifth")
    }

    private func entries(readBy name: String) async throws -> [JournalEntry] {
        let broker = try await arena.startBroker(name)
        let entries = try await arena.withBus { try await $0.journal() }
        try await arena.end([broker])
        return entries
    }
}

extension BrokerDamage: CustomStringConvertible {
    package var description: String {
        switch self {
        case .loss(let loss): "\(loss)"
        case .fullDisk: "fullDisk"
        }
    }
}
