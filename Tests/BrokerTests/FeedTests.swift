import BusFormat
import BusProtocol
import EventBus
import Testing

@testable import Broker

@Suite("Transient messages in the broker")
struct TransientTests {
    private func transient(_ fixture: Fixture, sequence: UInt64, _ message: PublishedMessage) -> Reply {
        let request = PublishRequest(
            producer: fixture.producer, sequence: sequence, isTransient: true, messages: [message])
        return fixture.ask(.publish(request))
    }

    @Test("A transient message is acknowledged and sent to the feed once, but not recorded")
    func passedOn() throws {
        try Fixture.run { fixture in
            #expect(transient(fixture, sequence: 1, Fixture.message("A")) == fixture.published(0))
            #expect(fixture.lastFeed.map(\.offset) == [0])
            #expect(fixture.lastFeed.map(\.previous) == [0])
            #expect(transient(fixture, sequence: 1, Fixture.message("A")) == fixture.published(0))
            #expect(fixture.lastFeed.isEmpty)
            #expect(fixture.journal.head == 0)
            #expect(fixture.journal.topics.entries.isEmpty)
        }
    }

    @Test("Transient messages have their own sequence, so a restarted broker misses none")
    func sequence() throws {
        try Fixture.run { fixture in
            _ = transient(fixture, sequence: 1, Fixture.message("A"))
            _ = transient(fixture, sequence: 2, Fixture.message("A"))
            #expect(fixture.publish(sequence: 1, ["A"]) == fixture.published(1))
            try fixture.restart()
            #expect(transient(fixture, sequence: 3, Fixture.message("A")) == fixture.published(0))
            #expect(fixture.publish(sequence: 2, ["A"]) == fixture.published(2))
        }
    }

    @Test("A batch that is refused for too many topics is refused again when it is repeated")
    func capacity() throws {
        try Fixture.run { fixture in
            func publish(_ sequence: Int, _ names: Range<Int>) -> Reply {
                fixture.ask(
                    .publish(
                        PublishRequest(
                            producer: fixture.producer, sequence: UInt64(sequence), isTransient: true,
                            messages: names.map { Fixture.message("M\($0)") })))
            }
            let size = 1024
            for number in 0..<TopicTable.capacity / size {
                #expect(publish(number + 1, number * size..<(number + 1) * size) == fixture.published(0))
            }
            let last = TopicTable.capacity / size + 1
            for attempt in 1...2 {
                let reply = publish(last, TopicTable.capacity..<TopicTable.capacity + 1)
                guard case .refused(let error) = reply else {
                    Issue.record("attempt \(attempt) was taken")
                    continue
                }
                #expect(error.code == .tooLarge)
            }
            #expect(publish(last, 0..<1) == fixture.published(0))
            #expect(fixture.lastFeed.count == 1)
        }
    }

    @Test("Documents and queries cannot be transient")
    func refused() throws {
        try Fixture.run { fixture in
            for (sequence, kind) in [MessageKind.document, .query].enumerated() {
                let reply = transient(fixture, sequence: UInt64(sequence) + 1, Fixture.message("A", kind: kind))
                guard case .refused(let error) = reply else {
                    Issue.record("\(kind) was taken")
                    continue
                }
                #expect(error.code == .topic)
                let again = transient(fixture, sequence: UInt64(sequence) + 1, Fixture.message("A", kind: kind))
                #expect(again == reply, "as often as it is sent")
            }
        }
    }
}

@Suite("Subscriptions of the feed")
struct SubscriptionsTests {
    private func subscription(_ topic: String, mark: UInt8 = 1) -> [[UInt8]] { [[mark] + Array(topic.utf8)] }

    @Test("The broker knows whether the feed ever had a subscription, and which inboxes expect an answer")
    func filters() {
        var subscriptions = Subscriptions()
        #expect(!subscriptions.hasSubscriber)
        #expect(subscriptions.handle(subscription("~abc.1")) == Array("~abc.1".utf8))
        #expect(subscriptions.handle(subscription("~abc.1", mark: 0)) == nil)
        #expect(!subscriptions.hasSubscriber, "an inbox alone receives no message")
        #expect(subscriptions.handle(subscription("event.")) == Array("event.".utf8))
        #expect(subscriptions.hasSubscriber)
        #expect(subscriptions.handle(subscription("event.", mark: 0)) == nil)
        #expect(subscriptions.hasSubscriber, "anybody may end a subscription that somebody else has")
        #expect(subscriptions.drainGarbageCount() == 0)
    }

    @Test("Devices are told of messages of their sessions, and of those of the default session that they share")
    func signals() {
        var subscriptions = Subscriptions()
        let (anna, boris) = (SessionSignal.topic(of: "anna"), SessionSignal.topic(of: "boris"))
        func message(_ name: String, _ session: String, offset: UInt64, kind: MessageKind = .event) -> FeedMessage {
            FeedMessage(
                topic: Topic(MessageType(kind: kind, name: name), subject: session).name, epoch: 1, offset: offset,
                previous: 0, header: [1], data: [2],
                origin: VerifiedOrigin(session: session, publisher: "music-service"))
        }
        let messages = [
            message("A", "anna", offset: 1), message("A", "boris", offset: 2), message("A", "anna", offset: 3),
            message("A", "anna", offset: 0), message("A", "default", offset: 4),
        ]
        #expect(subscriptions.signals(for: messages).isEmpty)
        _ = subscriptions.handle(subscription(anna))
        #expect(!subscriptions.hasSubscriber, "a device receives no message")
        #expect(subscriptions.signals(for: messages).mapValues(\.offset) == [anna: 3])
        _ = subscriptions.handle(subscription(boris))
        let shared = message("Flow", "default", offset: 5, kind: .document)
        #expect(subscriptions.signals(for: messages + [shared]).mapValues(\.offset) == [anna: 5, boris: 5])
        _ = subscriptions.handle(subscription(anna, mark: 0))
        #expect(subscriptions.signals(for: messages).mapValues(\.offset) == [boris: 2])
        subscriptions.forgetSignals()
        #expect(subscriptions.signals(for: messages).isEmpty)
    }

    @Test("An invalid subscription is counted and ignored")
    func garbage() {
        var subscriptions = Subscriptions()
        let long = String(repeating: "a", count: 300)
        for frames in [[], [[]], [[2, 65]], [[1, 65], [1]], subscription(long), subscription("~" + long)] {
            #expect(subscriptions.handle(frames) == nil)
        }
        #expect(!subscriptions.hasSubscriber)
        #expect(subscriptions.drainGarbageCount() == 6)
        #expect(subscriptions.drainGarbageCount() == 0)
    }
}
