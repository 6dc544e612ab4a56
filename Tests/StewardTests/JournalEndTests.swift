import BusFormat
import EventBus
import NATS
import NATSLayout
import Testing

@testable import Steward

@Suite("Detection of a lost end of the journal", .timeLimit(.minutes(1)))
struct JournalEndTests {
    @Test func `A new epoch begins although another client reports a wrong loss`() async throws {
        try await TestJournal.run { journal in
            let first = try await journal.publish([message(.event)])
            let end = try await journal.publish([message(.event)])
            let stored = try #require(
                try await journal.jetStream.message(of: journal.names.journal, sequence: end))
            // Another message has the place of the one that this client has published.
            let lost = SeenMessage(sequence: UInt64(end), time: stored.time - 1, id: "lost")
            let heartbeats = [lost, SeenMessage(sequence: UInt64(end), time: stored.time)].map {
                Heartbeat(
                    producer: ProducerID(), members: [], seen: UInt64(end), epoch: journal.journal.current, last: $0,
                    lacksLast: true)
            }
            let known = heartbeats.reduce(into: KnownEnd()) { $0.record($1, in: journal.journal) }
            let watch = JournalEnd(
                journal.jetStream, names: journal.names, epochs: journal.journal, notices: journal.notices)
            await #expect(throws: EpochChanged.self) { try await watch.watch { known } }
            let info = try await journal.jetStream.stream(journal.names.journal)
            let changed = try #require(JournalEpochs(metadata: info.metadata))
            #expect(changed.end(of: journal.journal.current) == UInt64(first))
        }
    }
}
