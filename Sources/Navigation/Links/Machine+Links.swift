// What becomes of deep links.
//
// A link is an event: it is met at once, whatever attempt waits. It is parked in the state, and each step tries it, its own
// first: so it is followed in the step that admits it. Of all that a user wants the newest counts: a newer link takes the
// place of a parked one, and so does what a newer command has opened.
extension Machine {
    /// The type of the message that brings a deep link.
    public static let deepLinkReceived = "event.DeepLinkReceived"

    mutating func receiveLink(_ input: Input) -> [Effect] {
        guard let url = input.data["url"]?.stringValue else { return [input.discarded("the field 'url' is missing")] }
        guard url.utf8.count <= ScreenInstance.argumentLimit else {
            return [input.discarded("the URL exceeds \(ScreenInstance.argumentLimit) bytes")]
        }
        if state.parked?.messageID == input.id { return [] }
        var step = step(for: input)
        let park: Int
        switch flow.answer(to: url, in: step.state) {
        case .unknown: return [input.discarded(flow.advice(forLink: url))]
        case .refused(let reason): return [input.discarded(reason)]
        case .waits(let reason, park: 0): return [input.discarded("it cannot be followed now: \(reason)")]
        case .waits(_, let milliseconds): park = milliseconds
        case .followed(let link): park = link.link.park.milliseconds
        }
        let (expiry, isLate) = (input.attributes.time ?? 0).addingReportingOverflow(park)
        step.unpark("a newer link came")
        step.state.parked = ParkedLink(
            url: url, messageID: input.id, expires: isLate ? .max : expiry, waiting: step.state.attempt)
        return commit(step)
    }

    /// Follows the parked link if the step has come to a state that admits it.
    ///
    /// Those who began the child flows that it ends are told before it leads anywhere, once: whatever their rules open, the
    /// link meets it as it meets any other state, and what it leads to is the whole of what then stands.
    func followParked(_ step: inout Step, telling: Bool = true) {
        guard let parked = step.state.parked else { return }
        switch flow.answer(to: parked.url, in: step.state) {
        case .unknown: step.unpark(flow.advice(forLink: parked.url))
        case .refused(let reason): step.unpark(reason)
        case .waits(let reason, park: 0) where !telling: step.unpark("it cannot be followed now: \(reason)")
        case .waits: break
        case .followed(let link):
            var followed = step
            followed.state.parked = nil
            followed.follow(link)
            guard !followed.state.isTooLarge(from: state) else {
                return step.unpark(NavigationFailure.stateTooLarge.message)
            }
            if telling, isChosen(by: step, since: parked, against: followed.state) {
                return step.unpark("the user has chosen something else since")
            }
            step.abandonRuns(comingTo: followed.state)
            guard telling, !step.endings.isEmpty else {
                step = followed
                step.abandonRuns()
                step.endings = []
                return
            }
            tellOfReportedEndings(&step)
            followParked(&step, telling: false)
        }
    }

    /// Whether the step does what the user has wished since the link came, and the state that the link leads to is
    /// without that.
    private func isChosen(by step: Step, since parked: ParkedLink, against next: NavigationState) -> Bool {
        let wish = wish(of: step)
        guard wish.isIntent, parked.older?.contains(wish.id) != true else { return false }
        // What a report leads to is no wish: the user has only taken something away. A tab is chosen by either.
        if let tab = step.state.selectedTab, step.state.root.instance.id == state.root.instance.id,
            tab != state.selectedTab, tab != next.selectedTab
        {
            return true
        }
        guard ViewReport(rawValue: wish.type) == nil else { return false }
        return !step.state.opened(since: state).allSatisfy(next.isStanding)
    }

    /// The message that the step answers. What a guard was asked for is a wish of when it was asked.
    private func wish(of step: Step) -> Input {
        guard let attempt = state.attempt, attempt.id != step.state.attempt?.id,
            attempt.id == step.input.attributes.causationID
        else { return step.input }
        return attempt.message
    }
}

extension NavigationState {
    fileprivate var selectedTab: String? { root.container?.selectedTab }

    /// What has been pushed, shown or presented since. A new root, with what it arranges beside it, is not among it: that
    /// is what links wait for.
    fileprivate func opened(since former: NavigationState) -> Set<String> {
        var opened = Set(standing.map(\.id)).subtracting(former.standing.map(\.id))
        if opened.remove(root.instance.id) != nil {
            opened.subtract((root.container?.stacks ?? []).map(\.instance.id))
        }
        return opened
    }
}
