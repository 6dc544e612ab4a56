internal import BusChecker
internal import EventBus
internal import Foundation
internal import Glibc
internal import TestSupport

/// A round in which a journal loses its end between two runs of its broker, and bits flip in its rows, while processes
/// publish, read and consume.
package struct DamageRound: Sendable {
    private let seed: UInt64
    private let loss: JournalLoss
    /// The number of batches that are under way when the broker is killed.
    private let batches: Int
    /// True if the publisher is stopped while the broker is killed.
    private let stopsPublisher: Bool

    /// - Parameter loss: By default a random one.
    package init(seed: UInt64, loss: JournalLoss? = nil) {
        var random = SeededGenerator(seed: seed)
        self.seed = seed
        self.loss = loss ?? JournalLoss.allCases.randomElement(using: &random) ?? .log
        batches = loss != nil || Bool.random(using: &random) ? 4 : 1024
        stopsPublisher = Bool.random(using: &random)
    }

    /// Runs the round. Errors of the bus are in the report and are not thrown.
    package func run() async throws -> SoakReport {
        do {
            return try await Arena.with { try await run(in: $0) }
        } catch let failure as ArenaFailure {
            var report = SoakReport(engine: .zeroMQ, seed: seed, shape: .damage)
            (report.findings, report.logs) = (["\(loss): \(failure.reason)"], failure.logs)
            return report
        }
    }

    private func run(in arena: Arena) async throws -> SoakReport {
        // The tables are in the file; everything after them is in the log.
        let first = try await arena.startBroker("first")
        try await arena.withBus { _ = try await $0.end() }
        try await end([first], in: arena)
        let second = try await arena.startBroker("second")
        let publisher = try await arena.startFixture(
            "publisher", "publish", ["--lanes", "\(batches)", "--batch", batches > 4 ? "1" : "4"])
        let others = [
            try await arena.startFixture("reader", "subscribe"),
            try await arena.startConsumer("consumer", group: "exclusive"),
            try await arena.startConsumer("worker1", group: "shared", mode: .shared),
            try await arena.startConsumer("worker2", group: "shared", mode: .shared),
        ]
        try await arena.until("everybody is at work") { counts in
            counts["reader"]?.delivered ?? 0 > 400
                && ["consumer", "worker1", "worker2"].allSatisfy { counts[$0]?.handled ?? 0 > 20 }
        }
        let (copy, whole) = try await kill(second, publisher, in: arena)
        try loss.befall(arena.journal, copy: copy)
        let third = try await arena.startBroker("third")
        // The marks of the clients may not cover the messages of the last second. The record of the end does.
        if loss != .file {
            try await arena.untilLog(of: "third", "tells of the loss") { $0.contains("has lost its last") }
        }
        let count = await arena.counts(of: "publisher").acknowledged
        try await arena.until("they go on in another journal") {
            $0["publisher"]?.acknowledged ?? 0 > count + 200 && $0["reader"]?.live == 2
        }
        try await end([publisher], in: arena)
        var history = try await arena.history(
            publishers: ["publisher"], groups: ["exclusive", "shared"], readers: ["reader"])
        try await end(others + [third], in: arena)
        var findings = try await flipBits(history.journal, in: arena)
        // Acknowledged messages that were lost with the old journal are not expected.
        let old = try await read(whole, in: arena)
        let lost = Set(old.compactMap(\.value)).subtracting(history.journal.compactMap(\.value))
        if Set(old).isSubset(of: history.journal) { findings.append("nothing was lost") }
        // Without its log, the file may contain only the tables.
        if [.endOfLog, .byteOfLog, .olderCopy].contains(loss), Set(old).isDisjoint(with: history.journal) {
            findings.append("nothing was left")
        }
        var report = SoakReport(engine: .zeroMQ, seed: seed, shape: .damage)
        (report.published, report.acknowledged) = (history.invoked.count, history.acknowledged.count)
        report.delivered = history.readers.reduce(0) { $0 + $1.deliveries.count }
        report.consumed = history.journal.filter { $0.value == nil }.count
        (report.kills, report.restarts, report.stops) = (1, 2, stopsPublisher ? 1 : 0)
        history.acknowledged.subtract(lost)
        report.findings = (findings + Checker.findings(in: history).map(\.description)).map { "\(loss): \($0)" }
        report.logs = report.findings.isEmpty ? "" : arena.failure("").logs
        return report
    }

    /// Kills the broker while its log contains many messages that the file does not contain.
    /// - Returns: An older copy of the journal, and the journal.
    private func kill(
        _ broker: ChildProcess, _ publisher: ChildProcess, in arena: Arena
    ) async throws -> (copy: JournalFiles, whole: JournalFiles) {
        try await broker.send(SIGSTOP)
        let copy = JournalFiles(at: arena.journal)
        var frames = 0
        repeat {
            let count = await arena.counts(of: "publisher").acknowledged
            try await publisher.send(SIGCONT)
            try await broker.send(SIGCONT)
            try await arena.until("more is published") { $0["publisher"]?.acknowledged ?? 0 > count + batches }
            if stopsPublisher {
                try await publisher.send(SIGSTOP)
                // The broker answers this after it has answered the batches: their acknowledgements wait.
                try await arena.withBus { _ = try await $0.end() }
            }
            try await broker.send(SIGSTOP)
            frames = try WriteAheadLog(of: arena.journal).frames
        } while frames < 400
        try await broker.send(SIGKILL)
        try await arena.untilEnd(of: broker)
        try await publisher.send(SIGCONT)
        return (copy, JournalFiles(at: arena.journal))
    }

    /// Flips bits in some rows of a journal that no broker serves.
    /// - Returns: The findings: each of these rows must be damaged, and no other.
    private func flipBits(_ entries: [JournalEntry], in arena: Arena) async throws -> [String] {
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
        let broker = try await arena.startBroker("fourth")
        let left = try await arena.withBus { try await $0.journal() }
        try await end([broker], in: arena)
        let missing = Set(entries.map(\.offset)).subtracting(left.map(\.offset))
        return missing == flipped ? [] : ["bits flipped at \(flipped.sorted()), and \(missing.sorted()) are missing"]
    }

    /// Reads the entries of a journal that was kept aside.
    private func read(_ journal: JournalFiles, in arena: Arena) async throws -> [JournalEntry] {
        try journal.write(to: arena.journal)
        let broker = try await arena.startBroker("old")
        let entries = try await arena.withBus { try await $0.journal() }
        try await end([broker], in: arena)
        return entries
    }

    private func end(_ processes: [ChildProcess], in arena: Arena) async throws {
        for process in processes { try await process.send(SIGTERM) }
        for process in processes where try await arena.untilEnd(of: process) != .exited(0) {
            throw arena.failure("\(process.name) ended with an error")
        }
    }
}
