# SPDX-License-Identifier: BSD-2-Clause
# podspec.rb FILE: what a podspec says, as JSON, in place of CocoaPods.
require 'json'

module Pod
  class Spec
    def initialize
      @said = {}
      yield self
      puts JSON.generate(@said)
    end

    def ios
      self.class.new_platform(@said, 'ios')
    end

    def osx
      self.class.new_platform(@said, 'osx')
    end

    def self.new_platform(said, name)
      Struct.new(:said, :name) do
        def deployment_target=(version)
          said["#{name}.deployment_target"] = version
        end
      end.new(said, name)
    end

    def method_missing(name, *values)
      return super unless name.to_s.end_with?('=')

      @said[name.to_s.chomp('=')] = values.first
    end

    def respond_to_missing?(name, *)
      name.to_s.end_with?('=')
    end
  end
end

load File.expand_path(ARGV.fetch(0))
