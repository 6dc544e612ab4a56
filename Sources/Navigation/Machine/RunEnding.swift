/// A run of a child flow that has ended, and how.
struct RunEnding {
    let run: FlowRun
    let ending: Flow.Ending
    let result: [String: JSONValue]

    /// What those who began the run are told, on behalf of the message that ended it.
    func message(on behalf: Machine.Input) -> Machine.Input {
        var message = behalf
        message.type = ending.rawValue
        message.data = ["flow": .string(run.flow), "run": .string(run.id)]
        if ending == .finished, case .object(var members) = message.data {
            members["result"] = .object(result)
            message.data = .object(members)
        }
        return message
    }
}
