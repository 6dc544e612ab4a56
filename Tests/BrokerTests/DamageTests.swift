import BusFormat
import BusProtocol
import EventBus
import Foundation
import GRDB
import Synchronization
import Testing

@testable import Broker

@Suite("A damaged, lost or full journal")
struct DamageTests {
    /// Collects the broker's notices.
    private final class Notices: Sendable {
        private let all = Mutex<[BusNotice]>([])
        var codes: [BusNotice.Code] { all.withLock { $0.map(\.code) } }
        var messages: [String] { all.withLock { $0.map(\.message) } }
        func add(_ notice: BusNotice) -> Envelope? {
            all.withLock { $0.append(notice) }
            let type = MessageType(kind: .error, name: "ApplicationError")
            return Envelope(attributes: Attributes(type: type, source: "broker/1"), data: Data("{}".utf8))
        }
    }

    @Test("A damaged message is reported once, in a message of the broker")
    func reported() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            try fixture.execute("UPDATE messages SET data = x'ff' WHERE offset = 2")
            #expect(fixture.read()?.damaged == [2])
            #expect(
                fixture.lastFeed.map(\.topic) == [
                    Topic(MessageType(kind: .error, name: "ApplicationError"), subject: "default").name
                ])
            #expect(fixture.read()?.damaged == [2])
            #expect(notices.codes == [.damaged])
        }
    }

    /// Sends hello with the head and mark of an earlier reply.
    private func greet(_ fixture: Fixture, _ welcome: Welcome?, offset: UInt64? = nil) -> Welcome? {
        let greeting = Greeting(
            producer: fixture.producer, epoch: welcome?.epoch ?? 0, offset: offset ?? welcome?.head ?? 0,
            head: welcome?.head ?? 0, mark: welcome?.mark ?? 0, asksForMore: true)
        guard case .welcome(let welcome) = fixture.ask(.hello(greeting)) else { return nil }
        return welcome
    }

    @Test("A hello whose mark proves a lost end begins a new epoch")
    func lostEnd() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            let copy = try fixture.copy()
            _ = fixture.publish(sequence: 2, ["A", "A", "A"])
            let seen = try #require(greet(fixture, nil))
            #expect(seen.head == 5)
            #expect(greet(fixture, seen)?.epoch == seen.epoch)
            try fixture.putBack(copy)
            try fixture.forgetEnd()
            try fixture.restart()
            _ = fixture.publish(sequence: 2, ["B"])
            let renewed = try #require(greet(fixture, seen))
            #expect(renewed.epoch != seen.epoch)
            #expect(renewed.more?.start == 2, "what the broker found when it opened the journal")
            #expect(notices.codes == [.lostEnd])
            try fixture.restart()
            #expect((fixture.journal.epoch, fixture.journal.start) == (renewed.epoch, 2))
        }
    }

    @Test("A broker that finds less than it had acknowledged begins a new epoch, and reports how much is lost")
    func lostWithoutClients() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            let copy = try fixture.copy()
            _ = fixture.publish(sequence: 2, ["A", "A", "A"])
            let epoch = fixture.journal.epoch
            try fixture.restart()
            #expect((fixture.journal.epoch, fixture.journal.head) == (epoch, 5), "nothing is lost")
            try fixture.putBack(copy)
            try fixture.restart()
            let renewed = fixture.journal.epoch
            #expect(renewed != epoch)
            #expect((fixture.journal.start, fixture.journal.head) == (2, 2))
            try fixture.tick()
            #expect(notices.codes == [.lostEnd])
            #expect(notices.messages.first?.contains("lost its last 3 offsets: it ends at offset 2") == true)
            try fixture.restart()
            #expect(fixture.journal.epoch == renewed, "the loss is told once")
            #expect(notices.codes == [.lostEnd])
        }
    }

    @Test("A journal with a different last message, or of an earlier epoch, begins a new epoch when it opens")
    func replaced() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            let copy = try fixture.copy()
            _ = fixture.publish(sequence: 2, ["A"])
            let first = fixture.journal.epoch
            // The end is the same offset, with another message.
            try copy.write { try $0.execute(sql: "UPDATE messages SET checksum = checksum + 1") }
            try fixture.putBack(copy)
            let end = try Data(contentsOf: URL(fileURLWithPath: "\(fixture.path).end"))
            try fixture.restart()
            let second = fixture.journal.epoch
            #expect(second != first)
            try fixture.putBack(copy)
            try fixture.restart()
            #expect(![first, second].contains(fixture.journal.epoch))
            // What is not a record, or not of this journal, shows nothing.
            let epoch = fixture.journal.epoch
            for bytes in [Data(), Data(end.prefix(23)), end + [0], Data(repeating: 0xff, count: 24)] {
                try bytes.write(to: URL(fileURLWithPath: "\(fixture.path).end"))
                try fixture.restart()
                #expect(fixture.journal.epoch == epoch)
            }
        }
    }

    @Test("A position that a client merely claims, or an invalid mark, begins no new epoch")
    func overstated() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            _ = fixture.publish(sequence: 1, ["A", "A"])
            let true2 = try #require(self.greet(fixture, nil))
            func greet(_ head: UInt64, mark: UInt64, epoch: UInt64 = true2.epoch) -> Welcome? {
                self.greet(fixture, Welcome(epoch: epoch, head: head, sequence: 0, mark: mark))
            }
            #expect(self.greet(fixture, true2, offset: 3) == true2)
            #expect(self.greet(fixture, true2, offset: .max) == true2)
            for mark in [1, .max, true2.mark, true2.mark ^ 1, true2.mark ^ 1 << 32] as [UInt64] {
                for head in [1, 3, .max] as [UInt64] { #expect(greet(head, mark: mark) == true2) }
            }
            #expect(greet(2, mark: true2.mark ^ 1 << 32) == true2)
            #expect(greet(2, mark: true2.mark, epoch: true2.epoch ^ 1) == true2)
            // Earlier versions of the broker used the checksum of the row as the mark.
            let checksum = try fixture.journal.read { try Int64.fetchOne($0, sql: "SELECT checksum FROM messages") }
            #expect(greet(1, mark: UInt64(bitPattern: checksum ?? 0)) == true2)
            #expect(notices.codes.isEmpty)
        }
    }

    @Test("A mark stays valid when retention removes its message, and still shows a lost end")
    func markOfNothing() throws {
        try Fixture.run({ $0.retention = RetentionLimits(age: .seconds(1), size: nil) }) { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            let copy = try fixture.copy()
            _ = fixture.publish(sequence: 2, ["A"])
            let before = try #require(greet(fixture, nil))
            fixture.now = fixture.now.advanced(by: .seconds(60))
            var outgoing = Outgoing()
            while fixture.engine.prune(now: fixture.now, into: &outgoing) {}
            #expect(greet(fixture, before)?.epoch == before.epoch)
            try fixture.restart()
            let after = try #require(greet(fixture, before))
            #expect((after.epoch, after.head) == (before.epoch, 2))
            #expect(after.mark != before.mark && after.mark != 0)
            try fixture.putBack(copy)
            try fixture.forgetEnd()
            try fixture.restart()
            #expect(try #require(greet(fixture, after)).epoch != before.epoch)
        }
    }

    @Test("A journal that was replaced by a copy is detected, even after others have published")
    func putBack() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            var size = 0
            func publish(_ sequence: UInt64, by producer: ProducerID) {
                size += 1
                let message = Fixture.message("A", size: size)
                _ = fixture.ask(.publish(PublishRequest(producer: producer, sequence: sequence, messages: [message])))
            }
            func greet(_ welcome: Welcome?) -> Welcome? { self.greet(fixture, welcome) }
            let empty = try #require(greet(nil))
            publish(1, by: fixture.producer)
            let before = try #require(greet(empty))
            let copy = try fixture.copy()
            publish(2, by: fixture.producer)
            let seen = try #require(greet(before))
            #expect([before, seen].map(\.epoch) == [empty.epoch, empty.epoch], "growing is no loss")

            try fixture.putBack(copy)
            try fixture.forgetEnd()
            try fixture.restart()
            let other = ProducerID()
            for sequence in 1...5 { publish(UInt64(sequence), by: other) }
            #expect(greet(before)?.epoch == empty.epoch, "this is still there")
            #expect(notices.codes.isEmpty)
            let renewed = try #require(greet(seen))
            #expect(renewed.epoch != empty.epoch)
            #expect(notices.codes == [.lostEnd])
            #expect(greet(renewed)?.epoch == renewed.epoch)
        }
    }

    @Test("Batches are refused while the disk is full, and accepted when there is room again")
    func full() throws {
        let notices = Notices()
        try Fixture.run({ $0.describe = notices.add }) { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            try fixture.journal.read { try $0.execute(sql: "PRAGMA max_page_count = 1") }
            var sequence: UInt64 = 1
            var refusal: ProtocolError?
            while refusal == nil, sequence < 1000 {
                sequence += 1
                let batch = PublishRequest(
                    producer: fixture.producer, sequence: sequence,
                    messages: [Fixture.message("New\(sequence)", size: 4000)])
                if case .refused(let error) = fixture.ask(.publish(batch)) { refusal = error }
            }
            #expect(refusal?.code == .journal)
            #expect(refusal?.message.contains("make room on the disk") == true)
            let head = fixture.journal.head
            let batches = [(1, "A"), (sequence, "New\(sequence)")].map { sequence, name in
                PublishRequest(
                    producer: fixture.producer, sequence: sequence, messages: [Fixture.message(name, size: 4000)])
            }
            let outgoing = fixture.handle(
                batches.map { Incoming(peer: [1], frames: Request.publish($0).frames(id: 1)) })
            let replies = try outgoing.frames.map { try Reply.read($0.frames).reply }
            #expect(
                replies.first == fixture.published(1), "a batch that is recorded is not refused when it is repeated")
            #expect(replies.last.map { self.refusal($0) } == .journal)
            try fixture.tick()
            #expect(notices.codes == [.unwritable])
            #expect(fixture.read()?.isComplete != nil, "reading goes on")
            try fixture.journal.read { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            #expect(fixture.publish(sequence: sequence, ["A"]) == fixture.published(head + 1))
            try fixture.tick(after: .seconds(4))
            #expect(notices.codes == [.unwritable, .writable])
        }
    }

    @Test("A batch that failed is not acknowledged when it is sent again before the state is reloaded")
    func failedLoad() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            func rename(_ from: String, _ to: String) throws {
                try fixture.execute("ALTER TABLE \(from) RENAME TO \(to)")
            }
            // The batch cannot be committed, and the data that it has changed in memory cannot be reloaded.
            try rename("messages", "hidden")
            let failed = refusal(fixture.publish(sequence: 2, ["A"]))
            try rename("hidden", "messages")
            try rename("shares", "hidden")
            let waiting = refusal(fixture.publish(sequence: 2, ["A"]))
            let greeting = refusal(fixture.ask(.hello(Greeting(producer: fixture.producer))))
            #expect([failed, waiting, greeting] == [.journal, .journal, .journal])
            try rename("hidden", "shares")
            #expect(fixture.publish(sequence: 2, ["A"]) == fixture.published(2))
            #expect(fixture.read()?.messages.map(\.offset) == [1, 2])
        }
    }

    @Test("A message that is recorded after a failed commit has the time of its own commit")
    func timeAfterFailure() throws {
        try Fixture.run { fixture in
            _ = fixture.publish(sequence: 1, ["A"])
            func rename(_ from: String, _ to: String) throws {
                try fixture.execute("ALTER TABLE \(from) RENAME TO \(to)")
            }
            try rename("messages", "hidden")
            #expect(refusal(fixture.publish(sequence: 2, ["A"])) == .journal)
            try rename("hidden", "messages")
            fixture.now = fixture.now.advanced(by: .seconds(60))
            #expect(fixture.publish(sequence: 2, ["A"]) == fixture.published(2))
            let times = try fixture.journal.read { try Int64.fetchAll($0, sql: "SELECT time FROM messages") }
            #expect(times.count == 2 && times[1] - times[0] == 60_000)
        }
    }

    private func refusal(_ reply: Reply) -> ProtocolError.Code? {
        guard case .refused(let error) = reply else { return nil }
        return error.code
    }

    @Test("A file that is not a journal is refused with a command that recovers its content")
    func noJournal() throws {
        try Fixture.inDirectory { directory in
            let path = "\(directory)/journal.sqlite"
            try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: BusError.self) { try Journal(path: path) }
            #expect(error?.code == .journal)
            #expect(error?.message.contains("sqlite3 \(path) .recover | sqlite3 NEW") == true)
        }
    }

    @Test("Pages that are overwritten while the broker runs end it with an error")
    func overwritten() throws {
        try Fixture.run { fixture in
            for sequence in 1...UInt64(60) {
                let messages = (0..<100).map { _ in Fixture.message("A", size: 1000) }
                _ = fixture.ask(
                    .publish(PublishRequest(producer: fixture.producer, sequence: sequence, messages: messages)))
            }
            try fixture.journal.read { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path))
            // The damage is in pages of older messages, which a broker does not read when it starts.
            try file.seek(toOffset: 60 * 4096)
            try file.write(contentsOf: Data(repeating: 0xff, count: 40 * 4096))
            try file.close()
            // Without a restart SQLite would read the pages from its cache.
            try fixture.restart()
            var refusals: [ProtocolError.Code] = []
            let request = PageRequest(epoch: 0, after: 100, prefixes: ["event."])
            if case .refused(let error) = fixture.ask(.read(request)) {
                refusals.append(error.code)
            }
            #expect(refusals == [.journal])
            #expect(throws: BusError.self) { try fixture.tick() }
        }
    }

    @Test("A file that is removed or replaced ends the broker", arguments: [true, false])
    func removed(isReplaced: Bool) throws {
        try Fixture.run { fixture in
            try fixture.tick()
            try FileManager.default.removeItem(atPath: fixture.path)
            if isReplaced { try Data().write(to: URL(fileURLWithPath: fixture.path)) }
            let error = #expect(throws: BusError.self) { try fixture.tick() }
            #expect(error?.code == .journal)
        }
    }
}
