internal import Navigation
internal import Support

/// A recorded session that two versions of a flow play at the same time.
struct ReleasedSession {
    let name: String
    private var old: Machine
    /// Nil while the next version cannot show what the recorded one shows.
    private var new: Machine?
    private let next: Flow
    /// The first difference since the machines were compared. Nil if there is none.
    private var difference: Difference?
    /// True if the instances of the next version may have other names.
    private var isRenamed = false

    private struct Difference {
        /// The screen in front, and what happened there.
        let screen: String
        let cause: String
        let message: String
        /// What the versions have told others since then.
        var old: [Told.Word] = []
        var new: [Told.Word] = []

        var isTold: Bool { Self.counts(old) != Self.counts(new) }

        private static func counts(_ words: [Told.Word]) -> [Told.Word: Int] {
            words.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Begins with the first message.
    init(_ name: String, _ old: Flow, _ new: Flow) {
        self.name = name
        self.old = Machine(flow: old, session: name)
        self.new = Machine(flow: new, session: name)
        next = new
    }

    /// Begins in the middle.
    init(_ state: NavigationSnapshot, _ old: Flow, _ new: Flow) {
        name = state.session
        self.old = Restoration(state, flow: old).machine
        next = new
        resume()
    }

    /// - Parameters:
    ///   - byOld: True if the version that was used receives messages of this type.
    ///   - byNew: True if the next version does.
    mutating func handle(_ input: Machine.Input, byOld: Bool, byNew: Bool, _ report: inout ReleaseReport) {
        report.messageCount += 1
        if input.attributes.causationID == nil {
            compare(&report)
            report.storyCount += 1
        }
        guard let current = new else {
            if byOld { _ = old.handle(input) }
            return
        }
        let former = old.state
        let renamed = isRenamed ? input.renamed(from: former, to: current.state) : input
        let before = byOld ? Told(old.handle(input)) : Told()
        var after = byNew ? Told(new?.handle(renamed) ?? []) : Told()
        if !after.hasFailed { report.cover.add(applied: after.applied) }
        if let screen = silenced(input, former) {
            after.words.append(Told.Word("does not come from '\(screen)' any more"))
        }
        let isSame = showsSame()
        if difference == nil, before.words != after.words || !isSame {
            difference = Difference(screen: former.front.screen, cause: input.cause, message: input.id)
        }
        difference?.old += before.words
        difference?.new += after.words
    }

    /// True if both versions show the same screens.
    private mutating func showsSame() -> Bool {
        guard let state = new?.state else { return true }
        // Nearly always, they are the same instances.
        isRenamed =
            old.state.root != state.root || old.state.path != state.path
            || old.state.presentations != state.presentations
        return !isRenamed || ShownScreens(of: old.state) == ShownScreens(of: state)
    }

    /// Compares what a user sees, and what was told to others since the first difference. If they differ, the next
    /// version goes on from the state of the recorded one.
    mutating func compare(_ report: inout ReleaseReport) {
        guard let new else { return resume() }
        guard let difference else { return }
        self.difference = nil
        let (before, after) = (ShownScreens(of: old.state), ShownScreens(of: new.state))
        guard before != after || difference.isTold else { return }
        report.add(
            ReleaseReport.Change(
                screen: difference.screen, cause: difference.cause,
                before: ReleaseReport.words(before.names, difference.old.map(\.kind)),
                after: ReleaseReport.words(after.names, difference.new.map(\.kind))),
            ReleaseReport.Example(
                session: name, message: difference.message,
                before: ReleaseReport.words(before.description, difference.old.map(\.description)),
                after: ReleaseReport.words(after.description, difference.new.map(\.description))))
        resume()
    }

    /// Lets the next version go on from what the recorded one shows. If it cannot show that, it waits.
    private mutating func resume() {
        let restoration = Restoration(old.snapshot, flow: next)
        new = restoration.dropped.isEmpty ? restoration.machine : nil
    }

    /// The screen that sends a command, if only the recorded version lets it do so. Nil for other messages.
    private func silenced(_ input: Machine.Input, _ state: NavigationState) -> String? {
        guard let id = input.attributes.instance, old.flow.platform == input.attributes.platform ?? next.platform,
            let screen = state.open.first(where: { $0.id == id })?.screen,
            old.flow.screens[screen]?.sends.contains(input.type) == true,
            next.screens[screen]?.sends.contains(input.type) == false
        else { return nil }
        return screen
    }
}

extension Machine.Input {
    /// The message, with the name that its instance has in the other state: that of the instance at the same place.
    fileprivate func renamed(from state: NavigationState, to other: NavigationState) -> Machine.Input {
        let names = Dictionary(zip(state.open.map(\.id), other.open.map(\.id))) { first, _ in first }
        var input = self
        input.attributes.instance = input.attributes.instance.map { names[$0] ?? $0 }
        if ViewReport(rawValue: type) != nil, case .object(var fields) = data,
            let name = fields["instance"]?.stringValue.flatMap({ names[$0] })
        {
            fields["instance"] = .string(name)
            input.data = .object(fields)
        }
        return input
    }
}
