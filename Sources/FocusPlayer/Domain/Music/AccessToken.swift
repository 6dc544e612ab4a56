/// What a call to Spotify shows to be let in. Its description never shows it.
package struct AccessToken: Hashable, Sendable {
    package let value: String
    /// Which token: a refused one is named by its generation, never by itself.
    package let generation: Int

    package init(value: String, generation: Int) {
        self.value = value
        self.generation = generation
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "AccessToken(redacted, generation \(generation))" }
    package var customMirror: Mirror { Mirror(self, children: ["generation": generation]) }
}
