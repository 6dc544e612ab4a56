// What becomes of deep links.
//
// A link is an event: it is met at once, whatever attempt waits, and the child flows whose first screen it takes away are
// abandoned. One that cannot be followed yet is parked in the state. Each step tries it again, so it is followed in the step that
// admits it. Of several the newest counts, for that is what the user wants now.
extension Machine {
    /// The type of the message that brings a deep link.
    public static let deepLinkReceived = "event.DeepLinkReceived"

    mutating func receiveLink(_ input: Input) -> [Effect] {
        guard let url = input.data["url"]?.stringValue else { return [input.discarded("the field 'url' is missing")] }
        if state.parked?.messageID == input.id { return [] }
        var step = step(for: input)
        switch flow.answer(to: url, in: step.state) {
        case .unknown: return [input.discarded(flow.advice(forLink: url))]
        case .refused(let reason): return [input.discarded(reason)]
        case .waits(let reason, park: 0): return [input.discarded("it cannot be followed now: \(reason)")]
        case .waits(_, let park):
            let (expiry, isLate) = (input.attributes.time ?? 0).addingReportingOverflow(park)
            step.unpark("a newer link came")
            step.state.parked = ParkedLink(url: url, messageID: input.id, expires: isLate ? .max : expiry)
        case .followed(let link):
            step.unpark("a newer link came")
            step.follow(link)
        }
        return commit(step)
    }

    /// Follows the parked link if the step has come to a state that admits it.
    ///
    /// - Returns: Whether it did.
    func followParked(_ step: inout Step) -> Bool {
        guard let parked = step.state.parked else { return false }
        switch flow.answer(to: parked.url, in: step.state) {
        case .unknown: step.unpark(flow.advice(forLink: parked.url))
        case .refused(let reason): step.unpark(reason)
        case .waits: break
        case .followed(let link):
            step.state.parked = nil
            step.follow(link)
            return true
        }
        return false
    }
}
