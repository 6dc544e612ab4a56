internal import Support

/// A change of the machine's state that is being prepared, by one message. It changes its own state in place. If an
/// action of a rule fails, the step is set back, so either all actions of a rule take effect or none does.
struct StateTransaction {
    let flow: Flow
    /// The message that is being handled. While the end of a run or an act of the user is handled, it is the message
    /// about that.
    var input: Machine.Input
    /// The state before the message; while the end of a run is handled, the state after that end. Conditions and
    /// templates refer to this state, even if actions have changed ``state`` since.
    var before: NavigationState
    /// The attempts that waited before the message, without those whose ends have been settled.
    private var waiting: [PendingGuard]
    var occasion: Occasion = .message
    var state: NavigationState
    /// The last number that was given to an instance or a run.
    private(set) var instances: Int
    /// The entries that the memory gets when the step is completed.
    private(set) var entries: [NavigationMemory.Entry] = []
    /// The alerts and dialogs whose buttons have recently sent commands.
    private let answers: [NavigationMemory.Answer]
    var effects: [Machine.Effect] = []
    /// True if strings are taken literally instead of as templates.
    var isLiteral = false
    /// True if a view requests the action.
    var isRequest = false
    /// The id of the run whose rule is being applied; for a request, of the run to which the requesting screen belongs.
    /// Nil for the flow itself.
    var scope: String?
    /// The layer of the path that the following actions of the step change. Nil if ``Focus`` determines the path
    /// otherwise.
    var layer: NavigationStep.Layer?
    /// The runs that have ended, whose ends no rule has handled yet.
    var endings: [RunEnding] = []
    /// The place in the flow of the rule or link that is being applied. Nil if there is none.
    var rule: String?

    /// The occasion of a step.
    indirect enum Occasion {
        /// The message that is being handled.
        case message
        /// The answer to the guard of a rule, or its deadline. The rule matched the message `to`.
        case answer(to: Machine.Input)
        /// The act of the user that the step carries out and that a rule may answer.
        case act(PerformedAct)
    }

    init(flow: Flow, input: Machine.Input, before: NavigationState, memory: NavigationMemory) {
        self.flow = flow
        self.input = input
        self.before = before
        instances = memory.instances
        answers = memory.answers ?? []
        state = before
        waiting = before.attempts
    }

    /// Sets the place of the rule or link whose actions follow.
    /// - Parameter part: The part of a rule with a guard. Nil for the rule's own actions.
    mutating func begin(rule keyPath: String, _ part: Flow.Guard.Part? = nil) {
        rule = keyPath
        tell(part.map { "\(keyPath).\($0.rawValue)" } ?? keyPath)
    }

    /// Tells that a rule, a part of it, or a link was applied.
    mutating func tell(_ keyPath: @autoclosure () -> String) {
        if flow.program.tellsRules { effects.append(.applied(rule: keyPath())) }
    }

    /// Undoes all changes since `former`. The rules that were applied since then are still told.
    mutating func reset(to former: StateTransaction) {
        let told = told.dropFirst(former.told.count)
        self = former
        effects += told
    }

    /// The rules and links that were applied, if the machine tells them.
    var told: [Machine.Effect] {
        flow.program.tellsRules ? effects.filter { if case .applied = $0 { true } else { false } } : []
    }

    /// Adds an entry to the memory when the step is completed.
    mutating func record(_ entry: NavigationMemory.Entry) { entries.append(entry) }

    /// Returns the next number, which is unique in the session.
    mutating func nextNumber() -> Int {
        instances += 1
        return instances
    }

    /// The open instance that sent the message. For the answer to a guard, it is the instance that sent the message
    /// which the rule matched. For a command that a button has sent, it is the answered alert or dialog; for an act of
    /// the user, the screen that was left. Nil if the message names no open instance of this platform.
    var sender: ScreenInstance? {
        switch occasion {
        case .message: sender(of: input)
        case .answer(let asking): sender(of: asking)
        case .act(let act): act.screen ?? sender(of: input)
        }
    }

    /// The message that a rule with a guard matched, while the actions after its answer or its deadline are taken. Nil
    /// otherwise.
    var asked: Machine.Input? {
        if case .answer(let asking) = occasion { asking } else { nil }
    }

    /// The act of the user that a rule may answer. Nil if there is none, and after the rule.
    var act: PerformedAct? {
        if case .act(let act) = occasion { act } else { nil }
    }

    private func sender(of message: Machine.Input) -> ScreenInstance? {
        before.sender(of: message, on: flow.platform) ?? answers.question(sending: message)
    }

    /// The point from which the conditions see the state, and whose stack the actions change.
    var focus: Focus {
        let sender = sender
        return Focus(
            sender: sender, window: act?.window ?? sender.flatMap { before.window(of: $0.id) }, run: livingRun?.id,
            layer: layer)
    }

    /// True if the state before the step fulfils the rule's conditions.
    func admits(_ rule: PreparedRule) -> Bool {
        Flow.Condition.hold(
            when: rule.transition.when, unless: rule.transition.unless, in: before, from: focus
        ) { try? resolve($0) }
    }

    /// Records that the program has dismissed these instances, from the bottom up. The view animates them out.
    private mutating func dismiss(_ instances: [ScreenInstance]) {
        for instance in instances.reversed() {
            state.leaving.append(instance)
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
            effects.append(.expectScreenGone(instance: instance.id))
        }
    }

    private mutating func dismissPresentations(_ range: Range<Int>) {
        let dismissed = state.presentations[range].flatMap(\.instances)
        state.presentations.removeSubrange(range)
        dismiss(dismissed)
    }

    /// Dismisses presentations. The last one stays if it is an alert or a dialog for which `isGone` is false.
    private mutating func dismissPresentations(_ range: Range<Int>, questionsIf isGone: (ScreenInstance) -> Bool) {
        let isKept = range.last.map { index in
            let presentation = state.presentations[index]
            return presentation.style.isQuestion && !isGone(presentation.instance)
        }
        dismissPresentations(isKept == true ? range.dropLast() : range)
    }

    /// Dismisses a presentation and everything that it presents.
    private mutating func dismissPresentation(_ index: Int) {
        dismissPresentations(index..<state.presentations(around: index).upperBound)
    }

    /// Records that the user has dismissed these instances, from the bottom up. The view has animated them out already.
    private mutating func recordUserDismissal(of instances: [ScreenInstance]) {
        for instance in instances.reversed() {
            record(.departure(input.departure(of: instance.id)))
            effects.append(.screenDismissed(instance: instance.id, screen: instance.screen))
        }
    }

    /// Records that the user has dismissed a presentation and everything that it presents.
    mutating func recordUserDismissal(ofPresentationAt index: Int) {
        let range = index..<state.presentations(around: index).upperBound
        let gone = state.presentations[range].flatMap(\.instances)
        state.presentations.removeSubrange(range)
        recordUserDismissal(of: gone)
    }

    /// Records that the user has dismissed an instance and all instances above it on its path.
    ///
    /// The program dismisses the presentations over that path.
    ///
    /// - Returns: True if the instance is on a path.
    mutating func recordUserDismissal(ofPathFrom instance: String) -> Bool {
        for scope in state.paths {
            guard let index = state[scope].firstIndex(where: { $0.id == instance }) else { continue }
            dismissPresentations(state.presentations(over: scope))
            let gone = Array(state[scope][index...])
            state[scope].removeSubrange(index...)
            recordUserDismissal(of: gone)
            return true
        }
        return false
    }

    /// Throws an error if the state exceeds the maximum size and has grown.
    func checkSize(from former: NavigationState) throws(NavigationFailure) {
        guard state.isTooLarge(from: former) else { return }
        throw .stateTooLarge
    }

    /// Records the report that a dismissed instance has been animated out.
    mutating func forget(_ instance: String) {
        state.leaving.removeAll { $0.id == instance }
        record(.departure(NavigationMemory.Departure(instance: instance, report: ViewReport.screenGone.rawValue)))
    }

    mutating func apply(_ action: Flow.Action) throws(NavigationFailure) {
        switch action {
        case .setRoot(let destination, container: let layout): try setRoot(destination, layout: layout)
        case .push(let destination, on: let stack):
            if try isOnTop(destination.screen, destination.arguments, of: stack) { return }
            try push(try instantiate(destination), at: try scope(stack))
        case .pushFlow(let name, arguments: let arguments, on: let stack):
            if try isOnTop(flow.flows[name]?.start, arguments, of: stack) { return }
            try push(try begin(name, arguments: arguments), at: try scope(stack))
        case .pop(.count(let count), let column): try pop(count, column: column)
        case .pop(.to(let screen), let column): try pop(to: screen, column: column)
        case .pop(.from(let screen), let column): try pop(from: screen, column: column)
        case .pop(.sender, column: _): try popSender()
        case .goTo(let destination): try goTo(destination)
        case .back: try goBack()
        case .popToRoot: try replacePath(with: [])
        case .replacePath(let destinations): try replacePath(with: destinations)
        case .present(let destination, as: let style, options: let options):
            if try isPresented(destination.screen, destination.arguments, as: style) { return }
            try present(try instantiate(destination), style: style, options: options)
        case .presentFlow(let name, arguments: let arguments, as: let style, options: let options):
            if try isPresented(flow.flows[name]?.start, arguments, as: style) { return }
            try present(try begin(name, arguments: arguments), style: style, options: options)
        case .dismiss(let dismissed): dismissPresentation(try indexToDismiss(dismissed))
        case .dismissAll: dismissPresentations(0..<state.presentations.endIndex)
        case .selectTab(let tab): try selectTab(tab)
        case .show(let destination, let column): try show(destination, column: column)
        case .update(let destination): try update(destination)
        case .openURL(let template): effects.append(.openURL(try resolveURL(template)))
        case .send(let type, let data):
            effects.append(.send(type: type, data: try resolve(data, as: flow.commands[type])))
        case .finish(let result): try end(.finished, result: result)
        case .abandon: try end(.abandoned)
        case .ifPossible(let action): try applyIfPossible(action)
        }
    }

    /// True if the screen must not be pushed again, because it is on top of the stack with these arguments.
    private func isOnTop(
        _ screen: String?, _ arguments: [String: JSONValue], of stack: Flow.Stack?
    ) throws(NavigationFailure) -> Bool {
        guard let screen, flow.program.onceScreens.contains(screen) else { return false }
        let scope = try scope(stack)
        let top = state[scope].last ?? state.base(of: scope)
        return top?.shows(screen, try filled(.screen(screen, arguments)).arguments) ?? false
    }

    /// True if the screen must not be presented again, because it is presented in front with these arguments. The
    /// following actions change its path.
    private mutating func isPresented(
        _ screen: String?, _ arguments: [String: JSONValue], as style: PresentationStyle
    ) throws(NavigationFailure) -> Bool {
        guard let screen, flow.program.onceScreens.contains(screen) else { return false }
        let window = state.presentations(inWindowOf: state.frontScope(from: focus))
        let front =
            style == .window
            ? state.presentations.last { $0.style == .window } : window.last.map { state.presentations[$0] }
        guard let front, front.instance.shows(screen, try filled(.screen(screen, arguments)).arguments) else {
            return false
        }
        layer = .presentation(instance: front.instance.id)
        return true
    }

    private mutating func applyIfPossible(_ action: Flow.Action) throws(NavigationFailure) {
        let former = self
        do {
            try apply(action)
        } catch {
            self = former
            if !error.dependsOnState { throw error }
        }
    }

    private mutating func present(
        _ instance: ScreenInstance,
        style: PresentationStyle,
        options: PresentationOptions
    ) throws(NavigationFailure) {
        let window = state.presentations(inWindowOf: state.frontScope(from: focus))
        if let front = state.presentations[window].last, front.style.isQuestion { throw .awaitsAnswer(front) }
        let options = try filled(options)
        let index = style == .window ? state.presentations.endIndex : window.upperBound
        state.presentations.insert(Presentation(style, instance, options: options), at: index)
        layer = .presentation(instance: instance.id)
    }

    /// The index of a presentation that is to be dismissed. The window of the sender comes first.
    private func indexToDismiss(_ dismissed: Flow.Dismissed?) throws(NavigationFailure) -> Int {
        let window = state.presentations(inWindowOf: state.frontScope(from: focus))
        switch dismissed {
        case nil:
            try checkSenderIsInFront()
            guard let index = window.last ?? state.presentations.indices.last else { throw .notPresented(nil) }
            return index
        case .screen(let screen):
            func matches(_ index: Int) -> Bool { state.presentations[index].instance.screen == screen }
            guard let index = window.last(where: matches) ?? state.presentations.indices.last(where: matches) else {
                throw .notPresented(screen)
            }
            return index
        case .sender:
            guard let sender, let scope = state.scope(of: sender.id) else { throw .noSender }
            guard case .presentation(let index) = scope else { throw .notPresented(sender.screen) }
            return index
        }
    }

    /// Throws an error if another screen covers the screen that sent a request.
    private func checkSenderIsInFront() throws(NavigationFailure) {
        guard isRequest, let sender, !state.active.contains(sender) else { return }
        throw .covered(sender)
    }

    private mutating func setRoot(_ destination: Flow.Destination, layout: Flow.Layout?) throws(NavigationFailure) {
        let dismissed = state.open
        // All screens are removed first, so that the new screens do not belong to a run that ends here.
        state.path = []
        state.presentations = []
        state.root.container = nil
        layer = nil
        dismiss(dismissed)
        let root = try instantiate(destination)
        state.root = RootScreen(root, container: try container(layout))
        state.tabHistory = layout?.keepsHistory == true ? [] : nil
    }

    private mutating func container(_ layout: Flow.Layout?) throws(NavigationFailure) -> Container? {
        switch layout {
        case nil: return nil
        case .split: return .split(columns: [:])
        case .tabs(let declared, _):
            var tabs: [Container.Tab] = []
            for tab in declared { tabs.append(Container.Tab(tab.name, ScreenStack(try instantiate(tab.destination)))) }
            return tabs.first.map { .tabs(tabs, selected: $0.name) }
        }
    }

    mutating func selectTab(_ name: String) throws(NavigationFailure) {
        guard case .tabs(let tabs, let former) = state.root.container, tabs.contains(where: { $0.name == name }) else {
            throw .noTab(name)
        }
        state.root.container = .tabs(tabs, selected: name)
        if let history = state.tabHistory, name != former {
            state.tabHistory = history.filter { $0 != name && $0 != former } + [former]
        }
        if layer != nil || livingRun != nil || state.presentations(over: state.bottomScope).isEmpty {
            // The following actions change the path of this tab.
            layer = .tab(name)
        }
    }

    private mutating func show(_ destination: Flow.Destination, column: String) throws(NavigationFailure) {
        guard case .split(var columns) = state.root.container else { throw .notSplit(column: column) }
        let replaced = columns.removeValue(forKey: column)
        state.root.container = .split(columns: columns)
        dismiss(replaced?.instances ?? [])
        columns[column] = ScreenStack(try instantiate(destination))
        state.root.container = .split(columns: columns)
    }

    /// Changes arguments of the sender, if it is an instance of the screen, otherwise of the frontmost instance.
    private mutating func update(_ destination: Flow.Destination) throws(NavigationFailure) {
        let open = state.openFromFront.filter { $0.screen == destination.screen }
        guard let instance = open.first(where: { $0.id == sender?.id }) ?? open.first else {
            throw .notOpen(destination.screen)
        }
        let changed = try filled(destination).arguments
        var updated = instance
        updated.arguments.merge(changed) { _, new in new }
        if updated.hasTooLargeArguments { throw .argumentsTooLarge(instance.screen) }
        state.setArguments(updated.arguments, of: instance.id)
    }

    private mutating func pop(_ count: Int, column: String?) throws(NavigationFailure) {
        let scope = try popScope(column)
        let depth = state[scope].count - floor(of: scope)
        // A count that a view requests may be negative.
        guard count > 0, count <= depth else { throw .nothingToPop(count, of: depth) }
        cut(scope, from: state[scope].endIndex - count)
    }

    /// The path from which a number of screens is popped. If a screen requests it without a column, this is the path of
    /// that screen.
    private func popScope(_ column: String?) throws(NavigationFailure) -> NavigationState.PathScope {
        guard column == nil, isRequest, let sender, let scope = state.scope(of: sender.id) else {
            return try scope(column.map { .column($0) })
        }
        try checkSenderIsInFront()
        return scope
    }

    /// Pops from the frontmost path that has the screen.
    private mutating func pop(to screen: String, column: String?) throws(NavigationFailure) {
        let scopes = try column.map { name throws(NavigationFailure) in [try scope(.column(name))] }
        for scope in scopes ?? state.scopesFromFront(from: focus) {
            let floor = floor(of: scope)
            if let index = state[scope][max(floor - 1, 0)...].lastIndex(where: { $0.screen == screen }) {
                return cut(scope, from: index + 1)
            }
            if floor == 0, state.base(of: scope)?.screen == screen { return cut(scope, from: 0) }
        }
        throw .notOnPath(screen)
    }

    /// Pops the topmost instance of the screen, and all above it, from the frontmost path that has the screen.
    private mutating func pop(from screen: String, column: String?) throws(NavigationFailure) {
        let scopes = try column.map { name throws(NavigationFailure) in [try scope(.column(name))] }
        for scope in scopes ?? state.scopesFromFront(from: focus) {
            let index = state[scope].lastIndex { $0.screen == screen }
            if let index, index >= floor(of: scope) { return cut(scope, from: index) }
        }
        throw .notOnPath(screen)
    }

    /// Pops a screen, dismisses a presentation or selects the tab before, as the user may do.
    private mutating func goBack() throws(NavigationFailure) {
        let scope = try popScope(nil)
        if let top = state[scope].last, state[scope].count > floor(of: scope) {
            if flow.screensWithoutBack.contains(top.screen) { throw .cannotGoBack(top) }
            return cut(scope, from: state[scope].endIndex - 1)
        }
        if let index = state.presentations(inWindowOf: scope).last {
            let front = state.presentations[index]
            guard front.isInteractivelyDismissable, [.sheet, .popover, .window].contains(front.style) else {
                throw .cannotGoBack(front.instance)
            }
            return dismissPresentation(index)
        }
        guard var history = state.tabHistory, let tab = history.popLast() else { throw .nothingToGoBackTo }
        try selectTab(tab)
        state.tabHistory = history
    }

    /// Comes back to an open instance with these arguments, or pushes a new one on the front path.
    private mutating func goTo(_ destination: Flow.Destination) throws(NavigationFailure) {
        let filled = try filled(destination)
        let front = state.frontScope(from: focus)
        let place = state.places(of: filled.screen, filled.arguments, from: front).first { place in
            guard !isRequest, let run = livingRun else { return true }
            // A rule of a child flow keeps the first screen of its run.
            return !state.instances(above: place).contains { $0.id == run.first }
        }
        guard let place else { return try push(try instantiate(filled: filled), at: front) }
        if case .tab(let name) = place.scope, place.scope != state.bottomScope { try selectTab(name) }
        dismissPresentations(state.presentations(over: place.scope))
        cut(place.scope, from: place.depth)
        layer = state.layer(of: place.scope)
    }

    /// Pops the sender and all screens above it. Presentations over them are dismissed, except for an alert or a
    /// dialog.
    private mutating func popSender() throws(NavigationFailure) {
        guard let sender, let scope = state.scope(of: sender.id) else { throw .noSender }
        guard let index = state[scope].firstIndex(where: { $0.id == sender.id }) else { throw .notPushed(sender) }
        let floor = floor(of: scope)
        guard index >= floor else { throw .nothingToPop(state[scope].count - index, of: state[scope].count - floor) }
        dismissPresentations(state.presentations(over: scope), questionsIf: { _ in false })
        cut(scope, from: index)
    }

    /// The path that an action changes: that of the named stack, otherwise the front path.
    private func scope(_ stack: Flow.Stack?) throws(NavigationFailure) -> NavigationState.PathScope {
        switch stack {
        case nil: return state.frontScope(from: focus)
        case .sender:
            guard let scope = sender.flatMap({ state.scope(of: $0.id) }) else { throw .noSender }
            return scope
        case .column(let column):
            guard case .split(let columns) = state.root.container else { throw .notSplit(column: column) }
            guard columns[column] != nil else { throw .emptyColumn(column) }
            return .column(column)
        }
    }

    /// Dismisses the instances of a path from `index` on.
    private mutating func cut(_ scope: NavigationState.PathScope, from index: Int) {
        let dismissed = Array(state[scope][index...])
        state[scope].removeSubrange(index...)
        dismiss(dismissed)
    }

    private mutating func replacePath(with destinations: [Flow.Destination]) throws(NavigationFailure) {
        let scope = state.frontScope(from: focus)
        let floor = floor(of: scope)
        var filled: [Flow.Destination] = []
        for destination in destinations { filled.append(try self.filled(destination)) }
        let run = livingRun?.id
        let kept = zip(state[scope][floor...], filled)
            .prefix { $0.run == run && $0.shows($1.screen, $1.arguments) }.count
        cut(scope, from: floor + kept)
        for destination in filled[kept...] { try push(try instantiate(filled: destination), at: scope) }
    }

    private mutating func push(_ instance: ScreenInstance, at scope: NavigationState.PathScope)
        throws(NavigationFailure)
    {
        if case .presentation(let layer) = scope {
            let presentation = state.presentations[layer]
            guard !presentation.style.isQuestion else { throw .holdsNoStack(presentation) }
        }
        state[scope].append(instance)
    }

    private mutating func instantiate(_ destination: Flow.Destination) throws(NavigationFailure) -> ScreenInstance {
        try instantiate(filled: try filled(destination))
    }

    private mutating func instantiate(
        filled destination: Flow.Destination
    ) throws(NavigationFailure) -> ScreenInstance {
        guard flow.screens.keys.contains(destination.screen) else { throw .unknownScreen(destination.screen) }
        var instance = ScreenInstance(
            screen: destination.screen, number: nextNumber(), arguments: destination.arguments)
        if instance.hasTooLargeArguments { throw .argumentsTooLarge(instance.screen) }
        instance.run = livingRun?.id
        return instance
    }

    /// Begins a run of a child flow, and returns its first instance, which is not on a path yet.
    private mutating func begin(_ name: String, arguments: [String: JSONValue]) throws(NavigationFailure)
        -> ScreenInstance
    {
        guard let child = flow.flows[name] else { throw .unknownFlow(name) }
        var first = try instantiate(.screen(child.start, arguments))
        let run = FlowRun(id: "\(name)-\(nextNumber())", flow: name, first: first.id, parent: first.run)
        first.run = run.id
        state.runs.append(run)
        return first
    }

    /// The run that new screens belong to: the run of the rule, or, if the rule has just removed that run's first
    /// screen, the innermost run around it that is still open.
    private var livingRun: FlowRun? {
        guard scope != nil else { return nil }
        return state.lineage(of: scope).first { state.isOpen($0.first) }
    }

    /// The number of screens at the bottom of a path that `pop`, `popToRoot` and `replacePath` of a rule keep: the
    /// first screen of the rule's run and all screens below it. 0 if that screen is not on this path.
    private func floor(of scope: NavigationState.PathScope) -> Int {
        // A view's request may leave a child flow.
        guard !isRequest, let run = livingRun else { return 0 }
        return state[scope].firstIndex { $0.id == run.first }.map { $0 + 1 } ?? 0
    }

    private mutating func end(_ ending: Flow.Ending, result: [String: JSONValue] = [:]) throws(NavigationFailure) {
        guard let run = livingRun else { throw .noFlowRuns }
        end(run, ending, result: try resolve(result))
    }

    /// Ends the runs whose first instance is not open in `next`. Nil for `next` means the current state.
    mutating func abandonRuns(comingTo next: NavigationState? = nil) {
        while !state.runs.isEmpty {
            let open = Set((next ?? state).open.map(\.id))
            guard let run = state.runs.first(where: { !open.contains($0.first) }) else { return }
            end(run, .abandoned, result: [:])
        }
    }

    /// Ends a run and all runs that it began, and dismisses their screens. Only the end of the outermost run is
    /// reported.
    private mutating func end(_ run: FlowRun, _ ending: Flow.Ending, result: [String: JSONValue]) {
        let family = state.family(of: run.id)
        let layer = state.layer(beneath: run) ?? before.layer(beneath: run)
        state.runs.removeAll { family.contains($0.id) }
        dismissAll { $0.run.map(family.contains) ?? false }
        endings.append(RunEnding(run: run, ending: ending, result: result, layer: layer))
    }

    /// Dismisses these instances wherever they are, together with all screens above them. An alert or a dialog that is
    /// not one of them stays.
    private mutating func dismissAll(where isGone: (ScreenInstance) -> Bool) {
        while let index = state.presentations.firstIndex(where: { isGone($0.instance) }) {
            dismissPresentations(index..<state.presentations(around: index).upperBound, questionsIf: isGone)
        }
        // The places of presentations change while others are dismissed.
        for layer in state.paths.compactMap({ state.layer(of: $0) }) {
            guard let scope = state.scope(of: layer), let index = state[scope].firstIndex(where: isGone) else {
                continue
            }
            dismissPresentations(state.presentations(over: scope), questionsIf: isGone)
            cut(scope, from: index)
        }
        guard case .split(let columns) = state.root.container else { return }
        state.root.container = .split(columns: columns.filter { !isGone($0.value.instance) })
        for (_, stack) in columns.sorted(by: { $0.key < $1.key }) where isGone(stack.instance) {
            dismiss(stack.instances)
        }
    }

    /// Ends each attempt whose screen is no longer open or the run of whose rule has ended.
    ///
    /// - Returns: The queued messages of the attempts that have ended in this step. A second call returns none.
    mutating func settleAttempts() -> [Machine.Input] {
        for attempt in state.attempts {
            guard let loss = loss(of: attempt) else { continue }
            end(attempt)
            effects.append(attempt.message.discarded(loss))
        }
        if waiting.isEmpty { return [] }
        let ended = waiting.filter { attempt in !state.attempts.contains { $0.id == attempt.id } }
        waiting.removeAll { attempt in ended.contains { $0.id == attempt.id } }
        for attempt in ended { record(.endOfAttempt(attempt.id)) }
        return ended.flatMap(\.queue)
    }

    /// Ends an attempt. ``settleAttempts()`` returns its queue.
    mutating func end(_ attempt: PendingGuard) {
        state.attempts.removeAll { $0.id == attempt.id }
    }

    /// The reason why the attempt can no longer wait. Nil if it can.
    private func loss(of attempt: PendingGuard) -> String? {
        if !state.isOpen(attempt.instance) {
            return "screen instance '\(attempt.instance)', which waited for an answer, was dismissed"
        }
        guard let run = attempt.run, state.run(run) == nil else { return nil }
        return "run '\(run)' of a child flow, whose rule waited for an answer, has ended"
    }

    /// Discards the parked link with `event.MessageDiscarded`.
    mutating func unpark(_ reason: String) {
        guard let parked = state.parked else { return }
        state.parked = nil
        effects.append(parked.discarded(reason))
    }

    /// Discards the parked link if it has expired.
    mutating func unparkExpired() {
        guard let parked = state.parked, parked.expires <= input.attributes.time ?? 0 else { return }
        unpark("the link expired before it could be followed")
    }

    /// Sends the commands of a deep link.
    mutating func send(_ link: FollowedLink) {
        for command in link.prepared.sends {
            effects.append(.send(type: command.type, data: .object(link.filled(command.data))))
        }
    }

    /// Opens the target of a deep link.
    mutating func follow(_ link: FollowedLink) {
        guard !link.isThere(state) else { return }
        let target = link.target
        if !link.isOtherwise { send(link) }
        let kept = link.keptPresentations(of: state)
        dismissPresentations(kept..<state.presentations.endIndex)
        if let root = target.root { follow(link, to: root) }
        if let tab = target.tab { try? selectTab(tab) }
        followColumns(link)
        follow(link, along: target.path, at: state.bottomScope)
        if let present = target.present { follow(link, to: present, keeping: kept > 0) }
    }

    private mutating func follow(_ link: FollowedLink, to root: LinkTarget.Root) {
        if link.keepsRoot(of: state) {
            state.root.instance = link.updated(state.root.instance, as: root.screen)
            if case .tabs(var tabs, let selected) = state.root.container, let first = link.target.first {
                for index in tabs.indices where tabs[index].name == link.target.tab {
                    tabs[index].stack.instance = link.updated(tabs[index].stack.instance, as: first)
                }
                state.root.container = .tabs(tabs, selected: selected)
            }
        } else {
            let dismissed = state.open
            let instance = instantiate(root.screen, link)
            state.root = RootScreen(instance, container: container(of: root, link))
            state.tabHistory = root.container?.keepsHistory == true ? [] : nil
            state.path = []
            dismiss(dismissed)
        }
    }

    private mutating func container(of root: LinkTarget.Root, _ link: FollowedLink) -> Container? {
        switch root.container {
        case nil: return nil
        case .split: return .split(columns: [:])
        case .tabs:
            var tabs: [Container.Tab] = []
            for tab in root.tabs { tabs.append(Container.Tab(tab.name, ScreenStack(instantiate(tab.screen, link)))) }
            return tabs.first.map { .tabs(tabs, selected: $0.name) }
        }
    }

    private mutating func followColumns(_ link: FollowedLink) {
        guard case .split(var columns) = state.root.container else { return }
        let wanted = link.target.columns.sorted { $0.key < $1.key }
        for (name, stack) in columns.sorted(by: { $0.key < $1.key }) {
            if let first = link.target.columns[name]?.first, link.keeps(stack.instance, as: first) {
                columns[name]?.instance = link.updated(stack.instance, as: first)
            } else {
                columns[name] = nil
                dismiss(stack.instances)
            }
        }
        for (name, screens) in wanted where columns[name] == nil {
            columns[name] = screens.first.map { ScreenStack(instantiate($0, link)) }
        }
        state.root.container = .split(columns: columns)
        for (name, screens) in wanted { follow(link, along: Array(screens.dropFirst()), at: .column(name)) }
    }

    private mutating func follow(
        _ link: FollowedLink,
        along path: [LinkScreen],
        at scope: NavigationState.PathScope
    ) {
        let count = link.kept(state[scope], as: path)
        cut(scope, from: count)
        state[scope] = zip(state[scope], path).map { link.updated($0, as: $1) }
        for screen in path[count...] { state[scope].append(instantiate(screen, link)) }
    }

    private mutating func follow(_ link: FollowedLink, to present: LinkTarget.Presented, keeping isKept: Bool) {
        if isKept, let presentation = state.presentations.first {
            state.presentations[0].instance = link.updated(presentation.instance, as: present.screen)
            cut(.presentation(0), from: 0)
        } else {
            let instance = instantiate(present.screen, link)
            state.presentations.append(Presentation(present.style, instance, options: present.options))
        }
    }

    private mutating func instantiate(_ screen: LinkScreen, _ link: FollowedLink) -> ScreenInstance {
        ScreenInstance(screen: screen.name, number: nextNumber(), arguments: link.filled(screen.arguments))
    }
}

/// The end of a run of a child flow.
struct RunEnding {
    let run: FlowRun
    let ending: Flow.Ending
    let result: [String: JSONValue]
    /// The layer on which the run was begun. Nil if it cannot be determined.
    let layer: NavigationStep.Layer?

    /// The message about the end, which rules match (``Flow/Ending``). It has the id and the attributes of the message
    /// that ended the run.
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
