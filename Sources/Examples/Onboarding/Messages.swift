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
    /// An answer was saved in the draft.
    package struct OnboardingSaved: EventMessage {
        /// True if all questions have been answered.
        package var isComplete: Bool

        package init(isComplete: Bool) {
            self.isComplete = isComplete
        }
    }

    /// An answer was not valid. The draft has not changed.
    package struct OnboardingRefused: EventMessage {
        /// The reason, for the user.
        package var problem: String

        package init(problem: String) {
            self.problem = problem
        }
    }
}

extension Document {
    /// The answers of a new user so far. The JSON of the document is the JSON of the draft.
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
