import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("The write-ahead log of the journal")
struct CheckpointerTests {
    private static func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// Publishes messages of 1 MiB.
    private static func publish(_ fixture: Fixture, _ sequences: ClosedRange<UInt64>) {
        for sequence in sequences {
            let batch = PublishRequest(
                producer: fixture.producer, sequence: sequence, messages: [Fixture.message("A", size: 1 << 20)])
            #expect(fixture.ask(.publish(batch)) == fixture.published(sequence))
        }
    }

    @Test("It is copied into the file while the broker continues, and begins anew at 64 MiB")
    func limit() throws {
        try Fixture.run { fixture in
            // The broker begins its next transaction in advance, so that there is always more to copy.
            for sequence in 1...150 as ClosedRange<UInt64> {
                Self.publish(fixture, sequence...sequence)
                fixture.journal.prepare()
            }
            let (log, file) = (try Self.size(fixture.path + "-wal"), try Self.size(fixture.path))
            #expect(log < 70 << 20)
            #expect(file > 60 << 20)
            try fixture.restart()
            #expect(fixture.journal.head == 150)
        }
    }

    @Test("A program that reads the file does not stop the broker")
    func reader() throws {
        try Fixture.run { fixture in
            Self.publish(fixture, 1...1)
            var configuration = Configuration()
            configuration.readonly = true
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: fixture.path, configuration: configuration)
            try reader.inDatabase { database in
                try database.execute(sql: "BEGIN")
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM messages")
            }
            Self.publish(fixture, 2...100)
            #expect(try Self.size(fixture.path + "-wal") > 90 << 20)
            try reader.close()
            Self.publish(fixture, 101...200)
            #expect(try Self.size(fixture.path + "-wal") < 200 << 20)
            #expect(fixture.journal.head == 200)
        }
    }
}
