import BusChecker
import Testing

@Suite("The checker of histories")
struct CheckerTests {
    @Test("finds nothing where nothing is wrong")
    func flawless() {
        #expect(Checker.findings(in: .flawless) == [])
    }

    @Test("an unacknowledged value may be there or not")
    func unacknowledged() {
        var history = History.flawless
        history.invoked.formUnion([value(4), value(5)])
        history.append(value(5), at: 9)
        #expect(Checker.findings(in: history) == [])
    }

    @Test("finds an acknowledged value that is missing")
    func lost() {
        var history = History.flawless
        history.remove(value(2))
        #expect(Checker.findings(in: history).contains(.lost(value(2))))
    }

    @Test("finds a value that was never sent")
    func neverSent() {
        var history = History.flawless
        history.append(value(7), at: 9)
        #expect(Checker.findings(in: history) == [.neverSent(value(7), offset: 9)])
    }

    @Test("finds a value that is there twice")
    func doubled() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "b", content: .value(value(3))))
        #expect(Checker.findings(in: history).contains(.doubled(value(3), offsets: [3, 9])))
    }

    @Test("finds two messages with one offset")
    func sharedOffset() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 3, stream: "c", content: .result(group: "other", input: value(1))))
        #expect(Checker.findings(in: history) == [.sharedOffset(3)])
    }

    @Test("finds values of one publisher that have changed places, whatever their streams")
    func disordered() {
        var history = History.flawless
        history.swapOffsets(2, 3)
        #expect(Checker.findings(in: history) == [.disordered(value(2), behind: value(3))])
    }

    @Test("values of different publishers have no order")
    func publishers() {
        var history = History.flawless
        let others = [2, 1].map { Value(publisher: "other", sequence: $0) }
        history.invoked.formUnion(others)
        history.append(others[0], at: 9)
        history.append(Value(publisher: "third", sequence: 1), at: 10)
        #expect(Checker.findings(in: history) == [.neverSent(Value(publisher: "third", sequence: 1), offset: 10)])
    }

    @Test("a superseded document may be forgotten; the last one may not")
    func superseded() {
        var history = History.flawless
        history.documents = [value(1): "status", value(2): "status"]
        history.remove(value(1))
        #expect(Checker.findings(in: history) == [])
        history.remove(value(2))
        #expect(Checker.findings(in: history).contains(.lost(value(2))))
    }
}
