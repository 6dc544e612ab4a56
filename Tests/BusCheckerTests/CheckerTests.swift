import BusChecker
import Testing

@Suite("Judging what a run of the bus did")
struct CheckerTests {
    private let a = (0..<6).map { Value(publisher: "a", number: $0) }
    private let b = (0..<4).map { Value(publisher: "b", number: $0) }

    /// Two publishers, two subjects, a subscriber, a consumer; the last message of `b` was never acknowledged.
    private var correct: History {
        var history = History()
        history.invoked = (a + b).map { .init($0, subject: "s\($0.number % 2)") }
        history.acknowledged = Set(a + b.dropLast())
        let order = [a[0], b[0], a[1], a[2], b[1], a[3], b[2], a[4], a[5]]
        history.journal = order.enumerated().map { .init($1, offset: UInt64($0 + 1)) }
        history.subscribers = ["s": order]
        history.handled = ["c": order]
        return history
    }

    private func findings(_ change: (inout History) -> Void) -> [Finding] {
        var history = correct
        change(&history)
        return Checker.findings(in: history)
    }

    @Test("a run without a fault has no finding")
    func correctRun() {
        #expect(findings { _ in } == [])
    }

    @Test("what was not acknowledged may be there or not")
    func unacknowledged() {
        let appeared = findings {
            $0.journal.append(.init(b[3], offset: 10))
            $0.subscribers["s"]?.append(b[3])
            $0.handled["c"]?.append(b[3])
        }
        #expect(appeared == [])
    }

    @Test("a subscriber may get subjects in any order, and a consumer handle them in any")
    func otherOrder() {
        let findings = findings {
            $0.subscribers["s"] = [a[1], b[1], a[3], a[5], a[0], b[0], a[2], b[2], a[4]]
            $0.handled["c"]?.reverse()
        }
        #expect(findings == [])
    }

    @Test("an acknowledged message that is gone is lost, and nothing else")
    func lost() {
        let findings = findings {
            $0.journal.removeAll { $0.value == a[2] }
            $0.subscribers["s"]?.removeAll { $0 == a[2] }
            $0.handled["c"]?.removeAll { $0 == a[2] }
        }
        #expect(findings == [.lost(a[2])])
    }

    @Test("a message that nobody sent is invented")
    func invented() {
        let stranger = Value(publisher: "x", number: 7)
        let findings = findings { $0.journal.append(.init(stranger, offset: 10)) }
        #expect(findings == [.invented(stranger, offset: 10)])
    }

    @Test("a message that is in the journal twice is doubled, whoever got it twice from there")
    func doubled() {
        let findings = findings {
            $0.journal.append(.init(a[1], offset: 10))
            $0.subscribers["s"]?.append(a[1])
            $0.handled["c"]?.append(a[1])
        }
        #expect(findings == [.doubled(a[1], offsets: [3, 10])])
    }

    @Test("two messages cannot have one offset")
    func collided() {
        let findings = findings { $0.journal[8] = .init(a[5], offset: 8) }
        #expect(findings == [.collided(a[4], a[5], offset: 8)])
    }

    @Test("a publisher's messages of one subject keep their order in the journal")
    func reordered() {
        let findings = findings {
            $0.journal[3] = .init(a[4], offset: 4)
            $0.journal[7] = .init(a[2], offset: 8)
            $0.subscribers["s"] = $0.journal.map(\.value)
        }
        #expect(findings == [.reordered(earlier: a[2], later: a[4])])
    }

    @Test("what a subscriber did not get, got twice, got too early or made up is named with it")
    func subscriber() {
        #expect(findings { $0.subscribers["s"]?.removeAll { $0 == a[5] } } == [.missed(a[5], subscriber: "s")])
        #expect(findings { $0.subscribers["s"]?.append(a[5]) } == [.repeated(a[5], subscriber: "s")])
        #expect(findings { $0.subscribers["s"]?.append(b[3]) } == [.phantom(b[3], subscriber: "s")])
        let swapped = findings { $0.subscribers["s"]?.swapAt(0, 1) }
        #expect(swapped == [.misordered(earlier: a[0], later: b[0], subscriber: "s")])
    }

    @Test("what a consumer did not handle, handled twice or made up is named with it")
    func consumer() {
        #expect(findings { $0.handled["c"]?.removeFirst() } == [.unhandled(a[0], consumer: "c")])
        #expect(findings { $0.handled["c"]?.append(a[0]) } == [.handledTwice(a[0], consumer: "c")])
        #expect(findings { $0.handled["c"]?.append(b[3]) } == [.imagined(b[3], consumer: "c")])
    }

    @Test("each subscriber and each consumer is judged for itself")
    func several() {
        let findings = findings {
            $0.subscribers["t"] = []
            $0.handled["d"] = $0.handled["c"]
        }
        #expect(findings == correct.journal.map { .missed($0.value, subscriber: "t") })
    }

    @Test("a value is read as it is written")
    func reading() {
        #expect(Value("p1.2/17") == Value(publisher: "p1.2", number: 17))
        #expect("\(Value(publisher: "p1.2", number: 17))" == "p1.2/17")
        for text in ["", "p", "/1", "p/", "p/x"] {
            #expect(Value(text) == nil)
        }
    }
}
