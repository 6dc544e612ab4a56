internal import BusChecker
internal import Contracts
internal import EventBus
internal import Foundation
internal import Navigation
internal import Support

/// The messages of one session, and the flow that the coordinators of the test run.
///
/// A visit plays the user, the view and the service that answers guards. It reacts to the states of the session: it
/// reports some of the leaving screens, and answers some of the attempts. The others are left to their deadlines. The
/// id of each message is a ``Value``; the name of the session is the publisher.
struct Visit {
    /// The flow as YAML. Each step selects the other tab, so each step changes the state.
    static let flow = """
        name: soak
        version: 1
        platform: soak
        start: launch
        screens: { launch: , tabs: , left: , right: , sheet: , answered: , unanswered: }
        transitions:
          - on: event.LaunchFinished
            do:
              - setRoot: { screen: tabs, container: { tabs: [left, right] } }
          - on: event.ProbeStepped
            where: { tab: left }
            do: [selectTab: left]
          - on: event.ProbeStepped
            where: { tab: right }
            do: [selectTab: right]
          - on: command.ProbeSheetToggled
            when: { presented: sheet }
            do: [dismiss: sheet]
          - on: command.ProbeSheetToggled
            do: [present: { screen: sheet, style: sheet }]
          - on: command.ProbeAsked
            guard:
              ask: command.ProbeQuestion
              accept: event.ProbeAnswered
              deadline: 1s
              meanwhile: queue
              expired: [replacePath: [unanswered]]
            do: [replacePath: [answered]]
        """

    /// The types of the messages of visits. A coordinator also publishes the last one.
    static let types: [MessageType] = [
        DomainEvent.LaunchFinished.type, ProbeStepped.type, ProbeAnswered.type, ProbeSheetToggled.type, ProbeAsked.type,
        Command.ScreenGone.type,
    ]

    let session: String
    private let source: String
    private var sequence = 0
    private var turn = 0
    private var state: NavigationState?
    /// The leaving screens and attempts that the visit has decided about.
    private var known: Set<String> = []

    init(session: String, source: String) {
        self.session = session
        self.source = source
    }

    /// Applies the newest state of the session.
    mutating func apply(_ snapshot: NavigationSnapshot) {
        state = snapshot.state
    }

    /// The next messages. The last of them certainly changes the state.
    mutating func next() throws -> [Envelope] {
        turn += 1
        guard turn > 1 else { return [try message(DomainEvent.LaunchFinished())] }
        var messages: [Envelope] = []
        for screen in state?.leaving ?? [] where known.insert(screen.id).inserted && known.count % 2 == 0 {
            messages.append(try message(Command.ScreenGone(instance: screen.id)))
        }
        if let attempt = state?.attempt, known.insert(attempt.id).inserted, known.count % 2 == 0 {
            var answer = try message(ProbeAnswered())
            answer.attributes.causationID = attempt.id
            messages.append(answer)
        }
        switch turn % 4 {
        case 0: messages.append(try message(ProbeAsked()))
        case 1, 3: messages.append(try message(ProbeSheetToggled()))
        default: break
        }
        return messages + [try message(ProbeStepped(tab: turn % 2 == 0 ? "right" : "left"))]
    }

    private mutating func message(_ message: some Message) throws -> Envelope {
        sequence += 1
        var envelope = try Envelope(message, source: source, subject: session)
        envelope.attributes.id = "\(Value(publisher: session, sequence: sequence))"
        return envelope
    }
}

/// The user has chosen a tab.
struct ProbeStepped: EventMessage {
    let tab: String
}

/// The user opens a sheet, or closes it.
struct ProbeSheetToggled: CommandMessage {}

/// A rule with a guard handles this command.
struct ProbeAsked: CommandMessage {}

/// The question of the guard.
struct ProbeQuestion: CommandMessage {}

/// The answer to the guard.
struct ProbeAnswered: EventMessage {}

extension NavigationEntry {
    /// The types of the messages that become entries, besides the errors of coordinators.
    static let filters: [MessageFilter] =
        Visit.types.map { .type($0) } + [
            .type(DomainEvent.GuardDeadlinePassed.self), .type(Document.NavigationState.self),
            .type(Document.Deadline.self), .type(DomainEvent.ScreenDismissed.self),
            .type(DomainEvent.MessageDiscarded.self), .type(ProbeQuestion.self), .kind(.error),
        ]

    /// The message as an entry for the checker. Nil if it does not belong to the navigation.
    /// - Throws: ``BusError`` if the data does not match the type of the message.
    init?(_ message: Envelope) throws {
        guard let offset = message.position?.offset, let content = try Content(message) else { return nil }
        self.init(
            id: message.id, session: message.subject, source: message.attributes.source, offset: offset,
            time: Int(message.attributes.time.milliseconds), content: content)
    }
}

extension NavigationEntry.Content {
    fileprivate init?(_ message: Envelope) throws {
        switch message.type {
        case Document.NavigationState.type:
            guard !message.isTombstone else { return nil }
            self = .state(
                try message.decode(Document.NavigationState.self).snapshot, cause: message.attributes.causationID)
        case Document.Deadline.type:
            self = .deadline(key: message.attributes.key ?? "", isOpen: !message.isTombstone)
        case DomainEvent.ScreenDismissed.type, DomainEvent.MessageDiscarded.type, ProbeQuestion.type: self = .result
        case ApplicationError.type:
            guard message.attributes.source.hasPrefix("navigation-coordinator/") else { return nil }
            self = .failure(try message.decode(ApplicationError.self).message)
        default:
            guard let input = Machine.Input(message) else { return nil }
            self = .input(input)
        }
    }
}
