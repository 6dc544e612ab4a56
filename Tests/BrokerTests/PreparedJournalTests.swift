import BusProtocol
import GRDB
import Testing

@testable import Broker

@Suite("A journal whose next transaction has begun")
struct PreparedJournalTests {
    @Test("others read a journal that is served, and none of them writes to it")
    func otherConnections() throws {
        try Fixture.run { fixture in
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(1))
            fixture.journal.prepare()
            let other = try DatabaseQueue(path: fixture.path)
            #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM messages") } == 1)
            let error = #expect(throws: DatabaseError.self) {
                try other.write { try $0.execute(sql: "DELETE FROM messages") }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(fixture.publish(sequence: 2, ["A"]) == fixture.published(2))
        }
    }

    @Test("it is closed as any other, and has what was published when it is opened again")
    func closing() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            // Memory that is used after it was given back is not found out each time.
            for count in 1...200 {
                let journal = try Journal(path: path)
                #expect(journal.head == UInt64(count - 1))
                var feed: [FeedMessage] = []
                try journal.transaction(at: 1) { try journal.append(Fixture.message("A"), to: &feed, $0) }
                journal.prepare()
            }
        }
    }
}
