import BusChecker
import BusSoak
import EventBus
import Foundation
import Glibc
import Testing

@Suite("When a journal is lost, all of it or its end, under processes that publish, read and consume")
struct LostJournalTests {
    @Test(
        "everybody begins anew with what there is, and nothing that the lost one had not acknowledged is missing",
        .timeLimit(.minutes(4)), arguments: JournalLoss.allCases)
    func lost(_ loss: JournalLoss) async throws {
        try await Arena.with { arena in
            // The tables are in the file; everything after them is in the log.
            let first = try await arena.startBroker("first")
            try await arena.withBus { _ = try await $0.publish(Noted(text: "first")) }
            try await end([first], in: arena)
            let second = try await arena.startBroker("second")
            let publisher = try await arena.startFixture("publisher", "publish", ["--lanes", "4"])
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
            try await kill(second, in: arena)
            let whole = JournalFiles(at: arena.journal)
            try loss.befall(arena.journal)
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
            let old = try await read(whole, in: arena)
            let lost = Set(old.compactMap(\.value)).subtracting(history.journal.compactMap(\.value))
            #expect(!lost.isEmpty)
            // Without its log, the file may contain only the tables.
            if loss == .endOfLog || loss == .byteOfLog { #expect(!Set(old).isDisjoint(with: history.journal)) }
            // Acknowledged messages that were lost with the old journal are not expected.
            history.acknowledged.subtract(lost)
            #expect(Checker.findings(in: history) == [])
        }
    }

    /// Kills the broker while its log contains many messages that the file does not contain.
    private func kill(_ broker: ChildProcess, in arena: Arena) async throws {
        while true {
            try await broker.send(SIGSTOP)
            let frames = try WriteAheadLog(of: arena.journal).frames
            if frames >= 400 { break }
            let count = await arena.counts(of: "publisher").acknowledged
            try await broker.send(SIGCONT)
            try await arena.until("more is published") { $0["publisher"]?.acknowledged ?? 0 > count }
        }
        try await broker.send(SIGKILL)
        try await arena.untilEnd(of: broker)
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
        for process in processes { #expect(try await arena.untilEnd(of: process) == .exited(0)) }
    }
}

/// The damage to a journal between two runs of its broker.
enum JournalLoss: CaseIterable {
    /// The journal was deleted.
    case file
    /// The journal was copied without its write-ahead log.
    case log
    /// The log was cut short, as by a loss of power.
    case endOfLog
    /// One bit of the log has changed: SQLite uses only the frames before it.
    case byteOfLog

    func befall(_ journal: String) throws {
        let log = WriteAheadLog.path(of: journal)
        switch self {
        case .file: JournalFiles.remove(journal)
        case .log: try FileManager.default.removeItem(atPath: log)
        case .endOfLog: try FileHandle(forWritingTo: URL(fileURLWithPath: log)).truncate(atOffset: try place(journal))
        case .byteOfLog:
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: log))
            let place = try place(journal)
            try file.seek(toOffset: place)
            let byte = try file.read(upToCount: 1)?.first ?? 0
            try file.seek(toOffset: place)
            try file.write(contentsOf: Data([byte ^ 0x10]))
        }
    }

    /// The place of the damage in the log. More messages are after it than clients have received since their last
    /// hello.
    private func place(_ journal: String) throws -> UInt64 {
        let log = try WriteAheadLog(of: journal)
        return UInt64(log.offset(ofFrame: log.frames / 4) + 100)
    }
}

/// The valid part of SQLite's write-ahead log (https://sqlite.org/fileformat2.html#walformat).
struct WriteAheadLog {
    /// The number of frames since the log was last restarted. The frames after them are old and already written back.
    let frames: Int
    private let pageSize: Int

    static func path(of journal: String) -> String { journal + "-wal" }

    init(of journal: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.path(of: journal)))
        guard data.count > Self.headerSize else {
            (frames, pageSize) = (0, 0)
            return
        }
        let size = data[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let (salt, starts) = (data[16..<24], stride(from: Self.headerSize, to: data.count - 24 - size, by: 24 + size))
        frames = starts.prefix { data[($0 + 8)..<($0 + 16)].elementsEqual(salt) }.count
        pageSize = size
    }

    private static let headerSize = 32

    func offset(ofFrame frame: Int) -> Int { Self.headerSize + frame * (24 + pageSize) }
}
