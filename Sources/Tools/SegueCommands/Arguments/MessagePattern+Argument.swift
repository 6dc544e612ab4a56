internal import ArgumentParser
package import Monitor

extension MessagePattern: FormedArgument {
    package static let forms = "a type such as command.PlaylistSelected, or a pattern such as 'event.*'"

    package init?(argument: String) {
        self.init(argument)
    }
}
