import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Testing

@testable import Broker

@Suite("Look-up of one document")
struct LookUpTests {
    private static func publish(_ messages: [PublishedMessage], in fixture: Fixture) {
        _ = fixture.ask(.publish(PublishRequest(producer: ProducerID(), sequence: 1, messages: messages)))
    }

    @Test("The page has only the document, and reaches the end of the journal")
    func found() throws {
        try Fixture.run { fixture in
            let documents = ["", "a", "b"].map { Fixture.message("Setting", kind: .document, key: $0) }
            Self.publish(documents + [Fixture.message("Other", kind: .document), Fixture.message("A")], in: fixture)
            for (key, offset) in [("", 1), ("a", 2), ("b", 3)] as [(String, UInt64)] {
                let page = try #require(try fixture.document("Setting", key: key))
                #expect(page.messages.map(\.offset) == [offset])
                #expect(page.messages.first == fixture.documents().first { $0.offset == offset })
                #expect((page.epoch, page.through, page.isComplete) == (fixture.journal.epoch, 5, true))
            }
            for page in [try fixture.document("Setting", key: "c"), try fixture.document("Nothing")] {
                #expect(page == Page(epoch: fixture.journal.epoch, through: 5, isComplete: true, messages: []))
            }
            try fixture.restart()
            #expect(try fixture.document("Setting", key: "b")?.messages.map(\.offset) == [3])
        }
    }

    @Test("The documents of a type and a subject are listed after an offset, in the order of publication")
    func subject() throws {
        try Fixture.run { fixture in
            let documents = ["b", "", "a", "b"].map { Fixture.message("Setting", kind: .document, key: $0) }
            let others = [
                Fixture.message("Setting", kind: .document, subject: "other"),
                Fixture.message("Other", kind: .document),
            ]
            Self.publish(documents + others, in: fixture)
            for (after, offsets) in [(0, [2, 3, 4]), (2, [3, 4]), (4, []), (6, [])] as [(UInt64, [UInt64])] {
                let page = try #require(try fixture.documents("Setting", after: after))
                #expect(page.messages.map(\.offset) == offsets)
                #expect((page.epoch, page.through, page.isComplete) == (fixture.journal.epoch, 6, true))
            }
            let many = (0..<300).map { Fixture.message("Many", kind: .document, key: "\($0)") }
            _ = fixture.ask(.publish(PublishRequest(producer: ProducerID(), sequence: 1, messages: many)))
            let first = try #require(try fixture.documents("Many", after: 0))
            #expect(!first.isComplete && first.messages.count == Limits.pageCount)
            let rest = try #require(try fixture.documents("Many", after: first.through))
            #expect(rest.isComplete && rest.messages.count == 300 - Limits.pageCount)
        }
    }

    @Test("A look-up uses the primary key of the documents, so its cost does not depend on their number")
    func cost() throws {
        try Fixture.run { fixture in
            let plan = try fixture.journal.read { database in
                try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN \(DocumentTable.lookUpSQL)", arguments: ["", "", ""]
                ).map { $0["detail"] as String }
            }
            #expect(plan.count == 2)
            #expect(
                plan.first?.hasPrefix("SEARCH documents USING PRIMARY KEY (type=? AND subject=? AND key=?)") == true)
            #expect(plan.last?.hasPrefix("SEARCH messages USING INTEGER PRIMARY KEY") == true)
            let scan = try fixture.journal.read { database in
                try Row.fetchAll(
                    database, sql: "EXPLAIN QUERY PLAN \(DocumentTable.scanSubjectSQL)", arguments: [0, "", ""]
                ).map { $0["detail"] as String }
            }
            #expect(scan.first?.hasPrefix("SEARCH documents USING PRIMARY KEY (type=? AND subject=?)") == true)
        }
    }

    @Test("A withdrawn document is not found until it is published again")
    func withdrawn() throws {
        try Fixture.run { fixture in
            Self.publish([Fixture.message("Setting", kind: .document)], in: fixture)
            Self.publish([Fixture.message("Setting", kind: .document, size: 0)], in: fixture)
            let withdrawn = try fixture.document("Setting")
            #expect(withdrawn?.messages.isEmpty == true)
            Self.publish([Fixture.message("Setting", kind: .document)], in: fixture)
            #expect(try fixture.document("Setting")?.messages.map(\.offset) == [3])
        }
    }

    @Test("The page of a damaged document has its offset")
    func damaged() throws {
        try Fixture.run { fixture in
            Self.publish(["a", "b"].map { Fixture.message("Setting", kind: .document, key: $0) }, in: fixture)
            try fixture.execute("UPDATE messages SET data = x'ff' WHERE offset = 2")
            let page = try #require(try fixture.document("Setting", key: "b"))
            #expect(page.messages.isEmpty)
            #expect(page.damaged == [2])
            #expect(try fixture.document("Setting", key: "a")?.messages.map(\.offset) == [1])
        }
    }

    @Test("A look-up in another journal is refused")
    func epoch() throws {
        try Fixture.run { fixture in
            let epoch = fixture.journal.epoch
            let type = MessageType(kind: .document, name: "Setting")
            let own = try DocumentRequest(epoch: epoch, type: type, subject: "default", key: "")
            guard case .page = fixture.ask(.document(own)) else {
                Issue.record("the epoch is the journal's")
                return
            }
            let other = try DocumentRequest(epoch: epoch &+ 1, type: type, subject: "default", key: "")
            guard case .refused(let error) = fixture.ask(.document(other)) else {
                Issue.record("a look-up in another journal was answered")
                return
            }
            #expect(error.code == .epoch)
        }
    }
}
