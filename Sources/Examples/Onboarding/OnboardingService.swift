package import Consuming
internal import Contracts
internal import EventBus
internal import Navigation
internal import Support

/// Validates and saves the answers of a new user before the flow continues.
///
/// The draft is a document, which the bus retains. The handler of a valid answer publishes the changed draft and
/// `event.OnboardingSaved` in one batch.
package enum OnboardingService {
    private static let sends: [any Message.Type] = [
        Document.OnboardingDraft.self, DomainEvent.OnboardingSaved.self, DomainEvent.OnboardingRefused.self,
    ]

    package static let handlers = Handlers("onboarding-service")
        .on(Command.NameEntered.self, sends: sends) { try await save(.name($0.name.typed), $1) }
        .on(Command.AgeEntered.self, sends: sends) { try await save(.age($0.age.typed), $1) }
        .on(Command.PlanChosen.self, sends: sends) { try await save(.plan($0.plan.typed), $1) }
        .on(Command.TeamEntered.self, sends: sends) { try await save(.team($0.team.typed), $1) }

    private static func save(_ answer: Draft.Answer, _ context: MessageContext) async throws -> [any Message] {
        let former = try await context.document(Document.OnboardingDraft.self)
        do throws(Draft.Problem) {
            let draft = try (former?.draft ?? Draft()).answered(answer)
            return [Document.OnboardingDraft(draft), DomainEvent.OnboardingSaved(isComplete: draft.isComplete)]
        } catch {
            return [DomainEvent.OnboardingRefused(problem: error.message)]
        }
    }
}

extension JSONValue? {
    /// The value as a user types it: a string without quotes, and the empty string for `null`.
    fileprivate var typed: String {
        switch self {
        case .string(let text): text
        case nil, .null: ""
        case let value?: value.description
        }
    }
}
