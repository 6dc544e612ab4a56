package import Contracts
internal import EventBus
internal import Navigation
package import Support

extension Command {
    package struct NameEntered: CommandMessage {
        package var name: JSONValue?

        package init(name: JSONValue?) {
            self.name = name
        }
    }

    package struct AgeEntered: CommandMessage {
        package var age: JSONValue?

        package init(age: JSONValue?) {
            self.age = age
        }
    }

    package struct PlanChosen: CommandMessage {
        package var plan: JSONValue?

        package init(plan: JSONValue?) {
            self.plan = plan
        }
    }

    package struct TeamEntered: CommandMessage {
        package var team: JSONValue?

        package init(team: JSONValue?) {
            self.team = team
        }
    }
}

extension DomainEvent {
    /// What was entered is in the draft.
    package struct OnboardingSaved: EventMessage {
        /// Whether nothing is left to ask.
        package var isComplete: Bool

        package init(isComplete: Bool) {
            self.isComplete = isComplete
        }
    }

    /// What was entered cannot be taken; the draft is as it was.
    package struct OnboardingRefused: EventMessage {
        /// What is wrong, in words for the user.
        package var problem: String

        package init(problem: String) {
            self.problem = problem
        }
    }
}

extension Document {
    /// What a new user has told so far. Its JSON is that of the draft.
    package struct OnboardingDraft: DocumentMessage {
        package var draft: Draft

        package init(_ draft: Draft) {
            self.draft = draft
        }

        package init(from decoder: any Decoder) throws {
            draft = try Draft(from: decoder)
        }

        package func encode(to encoder: any Encoder) throws {
            try draft.encode(to: encoder)
        }
    }
}
