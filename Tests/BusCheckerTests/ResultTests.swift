import BusChecker
import Testing

@Suite("The checker of what durable consumers commit")
struct ResultTests {
    @Test("finds an input without a result")
    func missing() {
        var history = History.flawless
        history.journal.removeAll { $0.content == .result(group: "group", input: value(2)) }
        #expect(Checker.findings(in: history) == [.resultMissing(group: "group", input: value(2))])
    }

    @Test("a document that is still in the journal has a result, though a later one is there")
    func document() {
        var history = History.flawless
        history.documents = [value(1): "status", value(2): "status"]
        history.journal.removeAll { $0.content == .result(group: "group", input: value(1)) }
        #expect(Checker.findings(in: history) == [.resultMissing(group: "group", input: value(1))])
    }

    @Test("finds a second result")
    func doubled() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "r", content: .result(group: "group", input: value(2))))
        let expected = Finding.resultDoubled(group: "group", input: value(2), offsets: [5, 9])
        #expect(Checker.findings(in: history) == [expected])
    }

    @Test("another group has results of its own")
    func groups() {
        var history = History.flawless
        history.groups.insert("second")
        let missing = (1...3).map { Finding.resultMissing(group: "second", input: value($0)) }
        #expect(Checker.findings(in: history) == missing)
    }

    @Test("finds a result of an input that is not there")
    func nothing() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "r", content: .result(group: "group", input: value(8))))
        #expect(Checker.findings(in: history) == [.resultOfNothing(group: "group", input: value(8), offset: 9)])
    }
}
