internal import ArgumentParser
package import Monitor

extension MessagePattern: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}
