/// What the first screen shows: itself, and perhaps the second over it.
package struct FirstState: Hashable, Sendable {
    package let instance: String
    package var second: SecondState?
}

/// What the second screen shows: its timer, and perhaps the third screen over it.
package struct SecondState: Hashable, Sendable {
    package let instance: String
    /// How far its timer has come; nil if it does not run.
    package var ticks: Int?
    package var third: ThirdState?
}

/// What the third screen shows.
package struct ThirdState: Hashable, Sendable {
    package let instance: String
}
