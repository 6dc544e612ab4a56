internal import Navigation
internal import Support

/// What a machine has told others because of a message.
struct Told {
    var words: [Word] = []
    var applied: [String] = []
    var hasFailed = false

    struct Word: Hashable {
        /// What is told, without values: `sends command.Pay`.
        let kind: String
        let value: JSONValue

        init(_ kind: String, _ value: JSONValue = [:]) {
            (self.kind, self.value) = (kind, value)
        }
    }

    init(_ effects: [Machine.Effect] = []) {
        for effect in effects {
            switch effect {
            case .openURL(let url): words.append(Word("opens a URL", .string(url)))
            case .send(let type, let data), .ask(_, let type, let data, _, _): words.append(Word("sends \(type)", data))
            // The reason names instances, which have other names in another version.
            case .messageDiscarded: words.append(Word("discards it"))
            case .failed(let failure):
                words.append(Word("fails", .string(failure.message)))
                hasFailed = true
            case .applied(let place): applied.append(place)
            case .expectAnswer, .began, .passed, .screenDismissed, .commandExpired, .expectScreenGone: break
            }
        }
    }
}

extension Told.Word: CustomStringConvertible {
    var description: String { value == [:] ? kind : "\(kind) \(value.summary)" }
}
