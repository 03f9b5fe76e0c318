/* SPDX-License-Identifier: BSD-2-Clause */
// caffe2::Timer: the time since construction or since the last start.
#ifndef TAPER_CPP_TIMER_H
#define TAPER_CPP_TIMER_H

#include <chrono>

namespace caffe2
{

class Timer
{
  public:
    Timer() : start_(std::chrono::steady_clock::now())
    {
    }
    void Start()
    {
        start_ = std::chrono::steady_clock::now();
    }
    float NanoSeconds() const
    {
        return static_cast<float>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count());
    }
    float MicroSeconds() const
    {
        return NanoSeconds() / 1e3F;
    }
    float MilliSeconds() const
    {
        return NanoSeconds() / 1e6F;
    }
    float Seconds() const
    {
        return NanoSeconds() / 1e9F;
    }

  private:
    std::chrono::time_point<std::chrono::steady_clock> start_;
};

} // namespace caffe2

#endif
