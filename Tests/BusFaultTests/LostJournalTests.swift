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
            // The tables are in the file, what follows is in the log.
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
            // The file alone may hold no more than its tables.
            if loss == .endOfLog || loss == .byteOfLog { #expect(!Set(old).isDisjoint(with: history.journal)) }
            // What the old one had acknowledged went with it.
            history.acknowledged.subtract(lost)
            #expect(Checker.findings(in: history) == [])
        }
    }

    /// Kills the broker while its log holds a good deal that its file does not: the log is written back, and begins anew,
    /// every few hundred commits.
    private func kill(_ broker: ChildProcess, in arena: Arena) async throws {
        try await broker.send(SIGSTOP)
        while try WriteAheadLog(of: arena.journal).frames < 200 {
            let count = await arena.counts(of: "publisher").acknowledged
            try await broker.send(SIGCONT)
            try await arena.until("more is published") { $0["publisher"]?.acknowledged ?? 0 > count }
            try await broker.send(SIGSTOP)
        }
        try await broker.send(SIGKILL)
        try await arena.untilEnd(of: broker)
    }

    /// What is in a journal that was kept aside.
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
