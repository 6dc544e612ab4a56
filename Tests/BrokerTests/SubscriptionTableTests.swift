import Testing

@testable import Broker

@Suite("What subscribers tell the feed")
struct SubscriptionTableTests {
    private func subscription(_ topic: String, mark: UInt8 = 1) -> [[UInt8]] { [[mark] + Array(topic.utf8)] }

    @Test("it is known whether anybody listens, and which inboxes want an answer")
    func filters() {
        var table = SubscriptionTable()
        #expect(table.isEmpty)
        #expect(table.take(subscription("event.")) == nil)
        #expect(table.take(subscription("event.")) == nil)
        #expect(table.take(subscription("~abc.1")) == Array("~abc.1".utf8))
        #expect(table.take(subscription("~abc.1", mark: 0)) == nil)
        #expect(!table.isEmpty)
        #expect(table.take(subscription("event.", mark: 0)) == nil)
        #expect(table.isEmpty)
        #expect(table.takeGarbageCount() == 0)
    }

    @Test("what no client sends is counted, and costs nothing")
    func garbage() {
        var table = SubscriptionTable()
        let long = String(repeating: "a", count: 300)
        for frames in [[], [[]], [[2, 65]], [[1, 65], [1]], subscription(long), subscription("~" + long)] {
            #expect(table.take(frames) == nil)
        }
        #expect(table.isEmpty)
        #expect(table.takeGarbageCount() == 6)
        #expect(table.takeGarbageCount() == 0)
    }

    @Test("more filters than are remembered are served all the same")
    func overflow() {
        var table = SubscriptionTable()
        for number in 0...SubscriptionTable.capacity {
            _ = table.take(subscription("event.\(number)."))
        }
        for number in 0..<SubscriptionTable.capacity {
            _ = table.take(subscription("event.\(number).", mark: 0))
        }
        #expect(!table.isEmpty)
    }
}
