extension FlowChecker {
    /// The longest that a guard may wait: whoever asked has long gone, and every wait is a timer of the host.
    private static let longestWait: Duration = .seconds(3600)

    mutating func check(_ condition: Flow.Guard, at place: String) {
        if let ask = condition.ask {
            checkCommand(ask.type, at: "\(place).ask")
            checkTemplates(in: ask.data, at: "\(place).ask.data")
        }
        check(condition.accept, at: "\(place).accept")
        if let reject = condition.reject {
            check(reject, at: "\(place).reject")
            let accept = condition.accept
            if accept.on == reject.on, accept.fields.isEmpty || accept.fields == reject.fields {
                report("'accept' takes all that 'reject' asks for; tell them apart with where", at: "\(place).accept")
            }
        } else if !condition.rejected.isEmpty {
            report("nothing rejects; name the answer in 'reject', or remove 'rejected'", at: "\(place).rejected")
        }
        if !(.milliseconds(1)...Self.longestWait).contains(condition.deadline) {
            report("a guard waits at least 1ms and at most 1h", at: "\(place).deadline")
        } else if condition.deadline != .milliseconds(condition.deadline.milliseconds) {
            report("a deadline is counted in whole milliseconds", at: "\(place).deadline")
        }
        allowsAnswer = true
        for (index, action) in condition.rejected.enumerated() { check(action, at: "\(place).rejected[\(index)]") }
        allowsAnswer = false
        for (index, action) in condition.expired.enumerated() { check(action, at: "\(place).expired[\(index)]") }
    }

    private mutating func check(_ answer: Flow.Guard.Answer, at place: String) {
        if answer.on == Machine.deadlinePassed {
            report("the machine answers '\(answer.on)' itself; say in 'expired' what to do", at: place)
        } else if !Self.isType(answer.on, ofKinds: ["event", "error", "document"]) {
            report("'\(answer.on)' cannot answer; write event.NAME, error.NAME or document.NAME", at: place)
        }
    }
}
