import Testing

@testable import Broker

@Suite("What subscribers tell the feed")
struct SubscriptionsTests {
    private func subscription(_ topic: String, mark: UInt8 = 1) -> [[UInt8]] { [[mark] + Array(topic.utf8)] }

    @Test("it is known whether anybody has ever listened, and which inboxes want an answer")
    func filters() {
        var subscriptions = Subscriptions()
        #expect(!subscriptions.isHeard)
        #expect(subscriptions.take(subscription("~abc.1")) == Array("~abc.1".utf8))
        #expect(subscriptions.take(subscription("~abc.1", mark: 0)) == nil)
        #expect(!subscriptions.isHeard, "an inbox alone hears no message")
        #expect(subscriptions.take(subscription("event.")) == nil)
        #expect(subscriptions.isHeard)
        #expect(subscriptions.take(subscription("event.", mark: 0)) == nil)
        #expect(subscriptions.isHeard, "anybody may end a subscription that somebody else has")
        #expect(subscriptions.takeGarbageCount() == 0)
    }

    @Test("what no client sends is counted, and costs nothing")
    func garbage() {
        var subscriptions = Subscriptions()
        let long = String(repeating: "a", count: 300)
        for frames in [[], [[]], [[2, 65]], [[1, 65], [1]], subscription(long), subscription("~" + long)] {
            #expect(subscriptions.take(frames) == nil)
        }
        #expect(!subscriptions.isHeard)
        #expect(subscriptions.takeGarbageCount() == 6)
        #expect(subscriptions.takeGarbageCount() == 0)
    }
}
