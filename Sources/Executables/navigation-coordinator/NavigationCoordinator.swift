import PlatformPrograms
import ServiceRuntime

@main
struct NavigationCoordinator {
    static func main() async { await NavigationCoordinatorCommand.runProgram() }
}
