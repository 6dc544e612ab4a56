import ServiceRuntime
import SpotifySimulator

@main
struct SpotifySimulator {
    static func main() async { await SpotifySimulatorCommand.runProgram() }
}
