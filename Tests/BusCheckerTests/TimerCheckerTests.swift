import BusChecker
import Testing

@Suite("Checker of timers")
struct TimerCheckerTests {
    @Test("A correct history of timers has no finding")
    func flawless() {
        #expect(findings() == [])
    }

    @Test("A timer that was published twice is found")
    func doubled() {
        #expect(findings { $0.elapse("c", 600) } == [.timerDoubled("c", offsets: [9, 13])])
    }

    @Test("A recorded timer that was lost is found")
    func missed() {
        #expect(findings { $0.set("e", due: 900) } == [.timerMissed("e")])
    }

    @Test("A timer's document that was withdrawn without its command or a cancellation is found")
    func withdrawn() {
        let found = findings {
            $0.set("e", due: 900)
            $0.append("lost", cause: "e", .removal(name: "tea"))
        }
        #expect(found == [.timerMissed("e")])
    }

    @Test("A command without a result, and one with two, are found")
    func results() {
        #expect(findings { $0.append("change-f", .change) } == [.timerUnchanged(command: "change-f")])
        #expect(
            findings { $0.append("again", cause: "change-d", .removal(name: "tea")) }
                == [.resultRepeated(id: "again", offset: 13)])
    }

    @Test(
        "A timer that was published after it was replaced, cancelled or never set is found", arguments: ["a", "b", "x"])
    func notOpen(id: String) {
        #expect(findings { $0.elapse(id, 900) } == [.timerNotOpen(id, offset: 13)])
    }

    @Test("A timer that was published before its time is found")
    func early() {
        let found = findings {
            $0.set("e", due: 900)
            $0.elapse("e", 899)
        }
        #expect(found == [.timerEarly("e", milliseconds: 1)])
    }

    private func findings(_ body: (inout History) -> Void = { _ in }) -> [Finding] {
        var history = History()
        history.set("a", due: 300)
        history.set("b", due: 400)
        history.append("change-d", .change)
        history.append("d", cause: "change-d", .removal(name: "tea"))
        history.set("c", due: 500)
        history.elapse("c", 500)
        history.append("change-g", .change)
        history.append("none", cause: "change-g", .removal(name: "tea"))
        body(&history)
        return Checker.findings(in: history)
    }
}

extension History {
    fileprivate mutating func append(
        _ id: String, cause: String? = nil, at time: Int = 0, _ content: TimerEntry.Content
    ) {
        let offset = UInt64(timers.count + 1)
        timers.append(TimerEntry(id: id, cause: cause, offset: offset, time: time, content: content))
    }

    /// Sets the timer `tea` with a command. Its document has this id.
    fileprivate mutating func set(_ id: String, due: Int) {
        append("change-\(id)", .change)
        append(id, cause: "change-\(id)", .set(name: "tea", due: due))
    }

    /// Publishes the command of a timer, and withdraws its document.
    fileprivate mutating func elapse(_ id: String, _ time: Int) {
        append("elapsed-\(id)", cause: id, at: time, .elapsed)
        append("removal-\(id)", cause: id, .removal(name: "tea"))
    }
}
