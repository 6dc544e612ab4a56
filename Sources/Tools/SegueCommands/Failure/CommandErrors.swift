/// Why a command cannot do what it was asked for, in several places at once: a line each.
package struct CommandErrors: Error, Hashable, Sendable {
    package let errors: [CommandError]
}
